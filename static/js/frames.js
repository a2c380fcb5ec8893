// afterFrame calls act after the next frame has been drawn, or immediately in a
// tab that is not drawn.
export function afterFrame(act) {
  if (document.hidden) act();
  else requestAnimationFrame(() => setTimeout(act));
}
