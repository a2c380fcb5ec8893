// A host sends 404.html for every address at which the site has no file, so the page does not know
// how far below the site's root it is shown. It therefore requests this script from each folder
// above its address. The folder that contains the script is the site's root, to which the page's
// addresses are relative.
if (!document.querySelector('base')) {
  const base = document.createElement('base');
  base.href = new URL('.', document.currentScript.src).href;
  document.head.append(base);
  addEventListener('DOMContentLoaded', () => { // links to a part of this page stay on this page
    for (const link of document.querySelectorAll('a[href^="#"]')) {
      link.href = location.pathname + location.search + link.getAttribute('href');
    }
  });
}
