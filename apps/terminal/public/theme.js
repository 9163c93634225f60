// The colours that the user has chosen, before the first paint: the page's own script runs after it.
try {
  const theme = localStorage.getItem("perpgate.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // The browser may forbid storage.
}
