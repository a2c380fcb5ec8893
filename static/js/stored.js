// What a page keeps in this browser. Storage can be switched off; then nothing
// is remembered.
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch { /* not kept */ }
}

export function recall(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}
