// Runs in the browser. It is a separate file, because the page's policy forbids inline scripts.
// The viewer has dark colours, and no switch for them on this page: it follows the system, as the console does.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function follow() {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}
dark.addEventListener("change", follow);
follow();

window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  // By default the viewer would send the document to a validator on the internet.
  validatorUrl: null,
});
