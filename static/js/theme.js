// Sets the chosen theme before the page is first painted. This is a blocking script, since a
// module would run too late and the page would flash.
try {
  const theme = localStorage.getItem('viz.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch { /* storage is blocked: the system's theme applies */ }
