// What a page keeps in this browser. If storage is switched off nothing is
// kept.
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch { /* not kept */ }
}

export function recall(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}
