// Values that a page stores in this browser. If storage is switched off, nothing is stored.
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch { /* storage is unavailable */ }
}

export function recall(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

// handOver stores a value for the next page in this tab, which can get it once with handedOver.
export function handOver(key, value) {
  try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* storage is unavailable */ }
}

export function handedOver(key) {
  try {
    const text = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    return JSON.parse(text);
  } catch { return null; }
}
