// Runs in the browser. The page's policy forbids inline scripts, so these lines are a file.
window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  // Asks a server elsewhere by default.
  validatorUrl: null,
});
