// Who may import whom. Data flows through the folders of api/ like this:
//   v1 (HTTP) -> commands (rules) -> store (SQL) <- relayer -> chain -> indexer -> store <- webhooks (meeting only in rows)

import { browserRules } from "./scripts/lint/browser-rules.mjs";

const ENTRIES = "^api/(main\\.ts$|cli/)";
const OUTSIDE = "^(scripts|test)/";
const OF_EXAMPLES = "^(examples/|node_modules/|client/((bulk|drop|drop-node)-)?entry\\.ts$)";
/** Folders outside the data flow. Every stage of the flow may import them. */
const LEAVES = ["chain", "config", "content", "domain", "keys", "outbound", "shared", "store"];
/** Folders that have rooms with rules of their own. The name of such a folder means its files outside of these rooms. */
const ROOMS = { content: ["copy", "node", "store"], operate: ["reconcile", "leave"] };

function place(name) {
  return name in ROOMS ? `${name}(?!/(?:${ROOMS[name].join("|")})/)` : name.replace(".", "\\.");
}

function folder(...names) {
  return `^api/(${names.map(place).join("|")})/`;
}

/** A rule: files that match `from` may not import what matches `to`. */
function rule(name, from, to, comment) {
  return { name, comment, severity: "error", from, to };
}

/** A rule: of the other folders of api/, folder `name` may import only those in `allowed`. */
function only(name, allowed, comment) {
  const to = { path: "^api/", pathNot: folder(name, ...allowed) };
  return rule(`${name}-imports`, { path: folder(name) }, to, comment);
}

/** For each wing of api/store the wings that it may import. There is no cycle. */
const WINGS = {
  db: [],
  apps: ["db"],
  listings: ["db"],
  outbox: ["db", "apps"],
  requests: ["db", "listings", "outbox"],
  media: ["db", "apps", "requests"],
  sending: ["db", "requests"],
  ledger: ["db", "listings", "outbox", "requests", "sending"],
  doctor: ["db", "requests"],
  move: ["db"],
  reconcile: ["db", "ledger", "listings", "media", "requests", "sending"],
  retention: ["db"],
};

/** For each other folder of api/ the wings of api/store that it may import. A folder that is not listed may import none. */
const WINGS_OF_USERS = {
  "content/copy": ["db", "listings", "media", "requests"],
  "content/store": ["db", "media"],
  checks: ["db", "doctor", "ledger", "media", "requests", "sending"],
  cli: ["db", "apps", "listings", "media", "move", "outbox", "requests", "sending"],
  commands: ["db", "apps", "ledger", "listings", "media", "outbox", "requests"],
  context: ["db", "media", "requests", "sending"],
  indexer: ["db", "apps", "ledger", "requests", "sending"],
  metrics: ["doctor"],
  operate: ["db", "apps", "listings", "media", "move", "reconcile", "requests", "retention"],
  "operate/leave": ["db", "apps", "listings", "media", "outbox", "requests"],
  "operate/reconcile": ["db", "apps", "ledger", "reconcile", "requests", "sending"],
  relayer: ["db", "apps", "requests", "sending"],
  v1: ["db", "apps", "listings", "media", "outbox", "requests"],
  webhooks: ["db", "outbox"],
};

function wings(names) {
  return `^api/store/(${names.join("|")})/`;
}

/** The rules for the wings of the store. */
function wingRules() {
  const inside = Object.entries(WINGS).map(([wing, allowed]) => ({
    name: `store-${wing}-imports`,
    severity: "error",
    from: { path: wings([wing]) },
    to: { path: "^api/store/", pathNot: wings([wing, ...allowed]) },
  }));
  const outside = Object.entries(WINGS_OF_USERS).map(([user, allowed]) => ({
    name: `${user}-enters-store`,
    severity: "error",
    from: { path: `^api/${place(user)}(/|$)` },
    to: { path: "^api/store/", pathNot: wings(allowed) },
  }));
  const users = Object.keys(WINGS_OF_USERS).map(place);
  const nobodyElse = {
    name: "store-has-named-users",
    comment: "Add the folder to WINGS_OF_USERS, with the wings that it needs.",
    severity: "error",
    from: { path: "^api/", pathNot: `^api/(store|${users.join("|")})(/|$)` },
    to: { path: "^api/store/" },
  };
  const noStrayFile = {
    name: "store-is-wings",
    comment: "Move the file into a wing.",
    severity: "error",
    from: { path: "^api/" },
    to: { path: "^api/store/[^/]+$" },
  };
  return [...inside, ...outside, nobodyElse, noStrayFile];
}

/** A rule: only `folders` of api/ may import these packages. */
function packageOf(name, packages, folders, comment) {
  return {
    name,
    comment,
    severity: "error",
    from: { path: "^api/", pathNot: folder(...folders) },
    to: { path: `^node_modules/(@types/)?(${packages.join("|")})/` },
  };
}

export default {
  forbidden: [
    rule("no-circular", {}, { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } }),
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-undeclared-package",
      comment: "Add the package to package.json. It is installed only because another package needs it.",
      severity: "error",
      // postinstall.mjs checks whether a package of Hardhat is installed.
      from: { pathNot: "^scripts/setup/postinstall\\.mjs$" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-dev-package-in-the-service",
      comment: "`npm start`, `npm run api` and the examples install only `dependencies`, and the local chain.",
      severity: "error",
      from: { path: "^(api|client|examples|scripts/start)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only", "npm"], pathNot: "^node_modules/@types/" },
    },

    only("v1", ["checks", "commands", ...LEAVES], "The HTTP side parses, commands, reads and answers."),
    only("commands", LEAVES, "Commands use neither HTTP nor the pipeline."),
    only("relayer", LEAVES, "The stages of the pipeline communicate only through rows."),
    only("indexer", LEAVES, "The stages of the pipeline communicate only through rows."),
    only("webhooks", LEAVES, "The stages of the pipeline communicate only through rows."),
    only("content/copy", LEAVES, "Fetches and stores media for requests."),
    only("operate", ["checks", "commands", ...LEAVES], "Operator commands use neither HTTP nor the pipeline."),
    only("checks", LEAVES, "The checks read rows and the chain and change neither."),
    only("metrics", ["checks", ...LEAVES], "What the service measures."),
    rule(
      "operate/leave-imports",
      { path: folder("operate/leave") },
      {
        path: "^api/",
        pathNot: [folder("operate/leave", "operate", "commands", ...LEAVES), "^api/v1/(present|exports/rows)\\.ts$"],
      },
      "The files of an export have rows in the form that the API gives them.",
    ),
    only("operate/reconcile", ["indexer", "operate", ...LEAVES], "Reads the chain again with the code of the indexer."),
    only(
      "content/store",
      ["config", "content", "domain", "shared", "store"],
      "The block stores that need the database or a network.",
    ),
    only(
      "cli",
      ["checks", "commands", "content/store", "context", "operate", "operate/leave", "operate/reconcile", ...LEAVES],
      "The command line calls the same commands as HTTP.",
    ),
    only("store", ["domain", "shared"], "SQL only: no network, no keys, no settings."),
    ...wingRules(),
    only("chain", ["domain", "shared"], "Calls to the node and their answers."),
    only("keys", ["domain", "shared"]),
    only("outbound", ["domain", "shared"]),
    only("content/node", ["content", "outbound", "shared"], "The IPFS node serves blocks and does nothing else."),
    only("content", ["domain", "shared"], "Content and its blocks: no network, no SQL."),
    only("config", ["domain", "shared"]),
    ...browserRules(),
    only("shared", ["domain"]),
    only("domain", [], "Types and pure rules."),
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: folder("domain") },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?(crypto|buffer)$" },
    },

    {
      name: "only-chain-uses-contract-types",
      severity: "error",
      from: { path: "^api/", pathNot: folder("chain") },
      to: { path: "^(types|contracts)/" },
    },
    {
      name: "only-chain-encodes-contract-calls",
      comment: "Call a function of api/chain instead, such as one of reads.ts.",
      severity: "error",
      from: { path: "^api/", pathNot: folder("chain") },
      to: { path: "^api/chain/(abi|call-results)\\.ts$" },
    },
    {
      name: "only-context-builds-the-pipeline",
      comment: "Only api/context constructs parts of the pipeline. Others may import types.",
      severity: "error",
      from: {
        path: "^api/",
        pathNot: [
          folder("context", "operate/reconcile", "v1", "relayer", "indexer", "webhooks", "content/copy"),
          "^api/operate/leave/rows\\.ts$",
        ],
      },
      to: { path: folder("v1", "relayer", "indexer", "webhooks", "content/copy"), dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-entries-use-context",
      severity: "error",
      from: { pathNot: [folder("context"), ENTRIES, OUTSIDE] },
      to: { path: folder("context") },
    },
    {
      name: "only-config-reads-the-environment",
      comment: "The entry points call environment.ts and pass the parsed settings on.",
      severity: "error",
      from: { path: "^api/", pathNot: [folder("config"), ENTRIES] },
      to: { path: "^api/config/environment\\.ts$" },
    },
    packageOf("sql-in-store", ["better-sqlite3", "kysely", "pg"], ["store"], "All SQL is in api/store."),
    packageOf("document-in-v1", ["zod-openapi", "swagger-ui-dist"], ["v1"], "api/v1 generates the OpenAPI document."),
    packageOf("prometheus-in-metrics", ["prom-client"], ["metrics"], "Inject `Metrics` of api/shared/metrics.ts."),
    packageOf("http-in-v1", ["express", "pino-http"], ["v1"], "Only api/v1 answers HTTP."),
    packageOf(
      "content-in-its-folder",
      ["@ipld", "ipfs-unixfs-.*", "interface-blockstore", "file-type"],
      ["content"],
      "Only api/content turns content into blocks.",
    ),
    packageOf("network-in-ipfs-node", ["libp2p", "@libp2p", "@helia", "@multiformats"], ["content/node"]),
    {
      name: "ipfs-node-is-loaded-on-demand",
      comment: "It opens connections and takes long to load. Import it dynamically, when the setting asks for it.",
      severity: "error",
      from: { path: "^api/", pathNot: folder("content/node") },
      to: { path: folder("content/node"), dynamic: false, dependencyTypesNot: ["type-only"] },
    },
    packageOf(
      "requests-to-strangers",
      ["undici", "ipaddr\\.js"],
      ["chain", "content/copy", "content/node", "content/store", "outbound", "webhooks"],
      "Requests to URLs that users gave go through api/outbound. Those of api/chain go to the nodes of the operator.",
    ),
    {
      name: "service-imports-only-itself",
      comment: "The service uses the committed contracts in contracts/generated, never build output.",
      severity: "error",
      from: { path: "^api/" },
      to: { path: "^(examples|scripts|test|types|contracts)/", pathNot: "^contracts/generated/" },
    },
    {
      name: "starts-without-a-build",
      comment: "These run on a fresh clone without a compiler, so they may not use the output of a build.",
      severity: "error",
      from: { path: "^scripts/(start|deploy)/" },
      to: { path: "^types/" },
    },
    // An example is written to be copied. In a checkout, the package @moneta/client is these entries.
    rule("examples-stand-alone", { path: "^examples/" }, { pathNot: OF_EXAMPLES, dependencyTypesNot: ["core"] }),
    { name: "scripts-import-no-tests", severity: "error", from: { path: "^scripts/" }, to: { path: "^test/" } },
    rule(
      "scene-imports-no-script",
      { path: "^scripts/scene/" },
      { path: "^scripts/", pathNot: "^scripts/scene/" },
      "All scripts and tests start their processes with the scene.",
    ),
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^types/", "^contracts/generated/"] },
    // The bundle of the console has chunks that import each other.
    exclude: { path: "^console/built/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "types", "default"] },
  },
};
