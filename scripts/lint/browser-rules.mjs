/** Import rules for the code that runs outside of the service: the client and the console. */
export function browserRules() {
  return [
    {
      name: "client-stands-alone",
      comment:
        "Apps install the client as a package, for Node and browsers. It has only its own files and its dependencies.",
      severity: "error",
      from: { path: "^client/" },
      to: { pathNot: ["^client/", "^node_modules/(openapi-fetch|eventsource-parser)/"] },
    },
    {
      name: "client-is-for-others",
      comment: "client/rules has pure rules of the API, which the service shares with its callers.",
      severity: "error",
      from: { path: "^api/", pathNot: "^api/cli/" },
      to: { path: "^client/", pathNot: "^client/rules/" },
    },
    {
      name: "console-stands-alone",
      comment: "The console runs in browsers. It uses the published client and its own packages.",
      severity: "error",
      from: { path: "^console/" },
      to: { pathNot: ["^(client|console)/", "^node_modules/(preact|@preact/signals|wouter-preact|uplot|uqr)/"] },
    },
    {
      name: "console-is-for-browsers",
      comment: "The service serves the files in console/built and imports none of the sources.",
      severity: "error",
      from: { path: "^(api|client)/" },
      to: { path: "^console/" },
    },
  ];
}
