// A page in another site's frame reports its height, so that the frame can adapt (viz.js on the
// other page listens). It does not read anything from the other page.
if (parent !== window) {
  let said = 0;
  const say = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === said) return;
    said = height;
    parent.postMessage({ viz: 'size', height }, '*'); // the origin is unknown here, but a height is not a secret
  };
  new ResizeObserver(say).observe(document.body);
  say();
}
