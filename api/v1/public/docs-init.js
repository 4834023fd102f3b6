// Runs in the browser. It is a separate file, because the page's policy forbids inline scripts.
window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  // By default the viewer would send the document to a validator on the internet.
  validatorUrl: null,
});
