// afterFrame calls act when the next frame has been drawn, or immediately in a
// tab that draws none.
export function afterFrame(act) {
  if (document.hidden) act();
  else requestAnimationFrame(() => setTimeout(act));
}
