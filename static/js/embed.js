// A page in another site's frame: it says how high it is, so that the frame can be as high
// (viz.js there listens). Nothing is read from the other page.
if (parent !== window) {
  let said = 0;
  const say = () => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === said) return;
    said = height;
    parent.postMessage({ viz: 'size', height }, '*'); // whose page it is, is not known here; a height is no secret
  };
  new ResizeObserver(say).observe(document.body);
  say();
}
