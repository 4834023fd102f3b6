/** Import rules for the code that runs in browsers: the client and the console. @param folder makes a pattern of folders in api/ */
export function browserRules(folder) {
  return [
    {
      name: "client-stands-alone",
      comment:
        "Apps install the client as a package, for Node and browsers. It has only its own files and its dependencies.",
      severity: "error",
      from: { path: folder("client") },
      to: { pathNot: [folder("client"), "^node_modules/(openapi-fetch|eventsource-parser)/"] },
    },
    {
      name: "client-is-for-others",
      severity: "error",
      from: { path: "^api/", pathNot: folder("client", "cli", "console") },
      to: { path: folder("client") },
    },
    {
      name: "console-stands-alone",
      comment: "The console runs in browsers. It uses the published client and its own packages.",
      severity: "error",
      from: { path: folder("console") },
      to: { pathNot: [folder("client", "console"), "^node_modules/(preact|@preact/signals|wouter-preact|uplot)/"] },
    },
    {
      name: "console-is-for-browsers",
      comment: "The service serves the files in api/console/built and imports none of the sources.",
      severity: "error",
      from: { path: "^api/", pathNot: folder("console") },
      to: { path: folder("console") },
    },
  ];
}
