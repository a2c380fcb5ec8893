// A host sends 404.html for every address at which the site has no file, and the page does not
// know how far below the site that is. So it asks for this script in each folder above its
// address. The folder that has it is the site's, from which the page's addresses count.
if (!document.querySelector('base')) {
  const base = document.createElement('base');
  base.href = new URL('.', document.currentScript.src).href;
  document.head.append(base);
  addEventListener('DOMContentLoaded', () => { // what leads to a part of the page stays on it
    for (const link of document.querySelectorAll('a[href^="#"]')) {
      link.href = location.pathname + location.search + link.getAttribute('href');
    }
  });
}
