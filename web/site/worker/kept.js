// The data that the program stores in this browser. It is one IndexedDB database with the records
// of the journal (used by Stored in web/journal), the learner's cookies and the secret that signs
// them.

const asked = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

// A complete transaction is on disk, and an aborted transaction has changed nothing.
const done = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve();
  transaction.onabort = () => reject(transaction.error ?? new Error('the browser gave up'));
});

// openKept opens the database of the site at a path. A host may have several sites.
async function openKept(path) {
  const opening = indexedDB.open(`viz ${path}`, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore('records', { keyPath: ['kind', 'name', 'type', 'id'] });
    opening.result.createObjectStore('values');
  };
  const db = await asked(opening);
  db.onversionchange = () => db.close();
  // change is async so that it fails only through its promise. Otherwise, it would throw if the
  // database was closed.
  const change = async (stores, act) => {
    const transaction = db.transaction(stores, 'readwrite', { durability: 'strict' });
    act(...[].concat(stores).map((name) => transaction.objectStore(name)));
    await done(transaction);
  };
  return {
    keeps: true,
    rows: async () => asked(db.transaction('records').objectStore('records').getAll()),
    put: (rows) => change('records', (records) => { for (const row of rows) records.put(row); }),
    remove: (keys) => change('records', (records) => { for (const key of keys) records.delete(key); }),
    drop: (kind, name) => change('records', (records) => {
      records.delete(IDBKeyRange.bound([kind, name], [kind, name, []]));
    }),
    value: async (key) => asked(db.transaction('values').objectStore('values').get(key)),
    setValue: (key, value) => change('values', (values) => { values.put(value, key); }),
  };
}

// nothingKept replaces the database if the browser does not provide storage.
const nothingKept = () => ({
  keeps: false,
  rows: async () => [], put: async () => {}, remove: async () => {}, drop: async () => {},
  value: async () => undefined, setValue: async () => {},
});
