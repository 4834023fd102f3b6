/** The part of the client that runs in Node only, with its entry. */
const OF_NODE = "^client/drop-node(/|-entry)";

/** Import rules for the code that runs outside of the service: the client and the console. */
export function browserRules() {
  return [
    {
      name: "client-stands-alone",
      comment:
        "Apps install the client as a package, for Node and browsers. It has only its own files and its dependencies.",
      severity: "error",
      from: { path: "^client/", pathNot: OF_NODE },
      to: { pathNot: ["^client/", "^node_modules/(openapi-fetch|eventsource-parser)/"] },
    },
    {
      name: "client-has-a-part-for-node",
      comment: "client/drop-node reads folders of files. It has nothing but the client and what is in Node.",
      severity: "error",
      from: { path: OF_NODE },
      to: { pathNot: "^client/", dependencyTypesNot: ["core"] },
    },
    {
      name: "browsers-load-nothing-of-node",
      comment: "The rest of the client runs in browsers, too.",
      severity: "error",
      from: { path: "^(client|console)/", pathNot: OF_NODE },
      to: { path: OF_NODE },
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
