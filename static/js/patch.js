// Makes an element equal to the given HTML. It changes only the parts that differ, so the focus,
// the scroll position and a press in progress survive. It walks the two trees in parallel while
// they have the same shape, and replaces a part whose shape has changed. If replacing a part would
// lose focus, it matches the two parts node by node, which is far slower.
import { Idiomorph } from './vendor/idiomorph.js';

// Attributes that scripts or learners set and that the server does not know about.
const own = { DETAILS: ['open'], CANVAS: ['width', 'height'] };

// patch changes element to html, which must be a single element.
export function patch(element, html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  const next = template.content.firstElementChild;
  if (element.nodeName === next.nodeName) become(element, next);
  else element.replaceWith(next);
}

function become(old, next) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  attributes(old, next);
  if (old.nodeName === 'TEMPLATE') old.content.replaceChildren(next.content);
  else if (sameShape(old, next)) {
    for (let a = old.firstChild, b = next.firstChild; a; a = a.nextSibling, b = b.nextSibling) become(a, b);
  } else if (old.contains(document.activeElement)) {
    // Typed text in a field is kept. A focused button gets its new label, like all other buttons.
    const ignoreActiveValue = document.activeElement.matches('input, textarea, select');
    const callbacks = { beforeAttributeUpdated: keepsOwn };
    Idiomorph.morph(old, [...next.childNodes], { morphStyle: 'innerHTML', ignoreActiveValue, callbacks });
  } else old.replaceChildren(...next.childNodes);
}

// sameShape reports whether the children of two elements can be paired.
function sameShape(old, next) {
  let a = old.firstChild;
  let b = next.firstChild;
  while (a && b) {
    if (a.nodeName !== b.nodeName || a.id !== b.id) return false;
    a = a.nextSibling;
    b = b.nextSibling;
  }
  return a === b; // both lists have ended
}

function attributes(old, next) {
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !own[old.nodeName]?.includes(name)) old.setAttribute(name, value);
  }
  if (old.attributes.length === next.attributes.length) return;
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !own[old.nodeName]?.includes(name)) old.removeAttribute(name);
  }
}

// keepsOwn stops Idiomorph from changing attributes that do not come from the server.
const keepsOwn = (name, element) => !own[element.nodeName]?.includes(name);
