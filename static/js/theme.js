// The chosen theme, set before the page is first painted. Loaded as a blocking
// script: as a module it would run too late and the page would flash.
try {
  const theme = localStorage.getItem('viz.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch { /* storage is blocked: the system's theme stands */ }
