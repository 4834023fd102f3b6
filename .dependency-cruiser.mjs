// Who may import whom. Data takes this way through the folders of api/:
//   v1 (HTTP) -> commands (rules) -> store (SQL) <- relayer -> chain -> indexer -> store <- webhooks (meeting only in rows)

const ENTRIES = "^api/(main\\.ts$|cli/)";
const OUTSIDE = "^(scripts|test)/";
/** What knows nothing of the way: everybody may import it. */
const LEAVES = ["chain", "config", "domain", "ipfs", "keys", "outbound", "shared", "store"];

function folder(...names) {
  return `^api/(${names.join("|")})/`;
}

/** A folder of api/ that may import, of the other folders there, only those named. */
function only(name, allowed, comment) {
  return {
    name: `${name}-imports`,
    comment,
    severity: "error",
    from: { path: folder(name) },
    to: { path: "^api/", pathNot: folder(name, ...allowed) },
  };
}

/** The wings of api/store that each wing may use. Together they have no circle. */
const WINGS = {
  db: [],
  apps: ["db"],
  listings: ["db"],
  outbox: ["db"],
  requests: ["db", "listings", "outbox"],
  media: ["db", "requests"],
  sending: ["db", "requests"],
  ledger: ["db", "listings", "requests", "sending"],
  doctor: ["db", "requests"],
  reconcile: ["db", "ledger", "listings", "requests", "sending"],
};

/** The wings of api/store that each other folder of api/ may use. A folder that is not named uses none. */
const WINGS_OF_USERS = {
  "main.ts": ["db"],
  cli: ["db", "apps", "outbox", "requests"],
  commands: ["db", "apps", "ledger", "listings", "media", "outbox", "requests"],
  context: ["db", "requests", "sending"],
  doctor: ["db", "doctor", "ledger", "media", "sending"],
  indexer: ["db", "apps", "ledger", "requests", "sending"],
  media: ["db", "listings", "media", "requests"],
  operator: ["db", "apps", "media"],
  reconcile: ["db", "apps", "ledger", "reconcile", "requests", "sending"],
  relayer: ["db", "apps", "requests", "sending"],
  v1: ["db", "apps", "listings", "media", "outbox", "requests"],
  webhooks: ["db", "outbox"],
};

function wings(names) {
  return `^api/store/(${names.join("|")})/`;
}

/** Which wings of the store may be entered from where. */
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
    from: { path: `^api/${user.replace(".", "\\.")}(/|$)` },
    to: { path: "^api/store/", pathNot: wings(allowed) },
  }));
  const users = Object.keys(WINGS_OF_USERS).map((user) => user.replace(".", "\\."));
  const nobodyElse = {
    name: "store-has-named-users",
    comment: "Who uses the store stands in WINGS_OF_USERS, with the wings that it needs.",
    severity: "error",
    from: { path: "^api/", pathNot: `^api/(store|${users.join("|")})(/|$)` },
    to: { path: "^api/store/" },
  };
  const noStrayFile = {
    name: "store-is-wings",
    comment: "Every file of the store is in a wing.",
    severity: "error",
    from: { path: "^api/" },
    to: { path: "^api/store/[^/]+$" },
  };
  return [...inside, ...outside, nobodyElse, noStrayFile];
}

/** A package that only some folders of api/ use. */
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
    {
      name: "no-circular",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-undeclared-package",
      comment: "A package that package.json does not name is here by accident of another.",
      severity: "error",
      // postinstall.mjs looks whether a package of Hardhat's is there.
      from: { pathNot: "^scripts/setup/postinstall\\.mjs$" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-dev-package-in-the-service",
      severity: "error",
      from: { path: "^api/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only", "npm"], pathNot: "^node_modules/@types/" },
    },

    only("v1", ["commands", ...LEAVES], "The HTTP side parses, commands, reads and answers."),
    only("commands", LEAVES, "Commands know neither HTTP nor the pipeline."),
    only("relayer", LEAVES, "The ends of the pipeline meet only in rows."),
    only("indexer", LEAVES, "The ends of the pipeline meet only in rows."),
    only("webhooks", LEAVES, "The ends of the pipeline meet only in rows."),
    only("media", LEAVES, "Content for requests: fetched, stored, named in rows."),
    only("operator", ["commands", ...LEAVES], "What only the operator may do; it knows no HTTP and no pipeline."),
    only("doctor", LEAVES, "The doctor looks at rows and at the chain; it changes neither."),
    only("reconcile", ["indexer", ...LEAVES], "Reads the chain anew with what the indexer reads it with."),
    only(
      "cli",
      ["commands", "context", "doctor", "operator", "reconcile", ...LEAVES],
      "The command line is a second way to the commands.",
    ),
    only("store", ["domain", "shared"], "SQL, and the rules it stores: no network, no keys, no settings."),
    ...wingRules(),
    only("chain", ["domain", "shared"], "What the chain is asked, and what it answers."),
    only("keys", ["domain", "shared"]),
    only("outbound", ["domain", "shared"]),
    only(
      "ipfs-node",
      ["ipfs", "outbound", "shared"],
      "The service's own IPFS node: it serves blocks and nothing else.",
    ),
    only("ipfs", ["domain", "shared"], "Content and its blocks: no network, no SQL."),
    only("config", ["domain", "shared"]),
    only("client", ["shared"], "For apps: it knows the published document and nothing of the service."),
    {
      name: "client-is-for-others",
      severity: "error",
      from: { path: "^api/", pathNot: folder("client") },
      to: { path: folder("client") },
    },
    only("shared", ["domain"]),
    only("domain", [], "Types and rules that need nothing else."),
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
      comment: "Call a function of api/chain instead, such as one of relay-reads.ts.",
      severity: "error",
      from: { path: "^api/", pathNot: folder("chain") },
      to: { path: "^api/chain/(abi|call-results|deployed)\\.ts$" },
    },
    {
      name: "only-context-builds-the-pipeline",
      comment: "Its types may be imported by the entries; whatever constructs a part of it is in api/context.",
      severity: "error",
      from: { path: "^api/", pathNot: folder("context", "reconcile", "v1", "relayer", "indexer", "webhooks", "media") },
      to: { path: folder("v1", "relayer", "indexer", "webhooks", "media"), dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-entries-use-context",
      severity: "error",
      from: { pathNot: [folder("context"), ENTRIES, OUTSIDE] },
      to: { path: folder("context") },
    },
    {
      name: "only-config-reads-the-environment",
      comment: "environment.ts is called by the entries, which pass the parsed settings on.",
      severity: "error",
      from: { path: "^api/", pathNot: [folder("config"), ENTRIES] },
      to: { path: "^api/config/environment\\.ts$" },
    },
    packageOf("sql-in-store", ["better-sqlite3", "kysely", "pg"], ["store"], "All SQL is in api/store."),
    packageOf("document-in-v1", ["zod-openapi", "swagger-ui-dist"], ["v1"], "The document is made in api/v1."),
    packageOf("http-in-v1", ["express", "helmet", "pino-http"], ["v1"], "HTTP is answered in api/v1."),
    packageOf(
      "content-in-ipfs",
      ["@ipld", "ipfs-unixfs-.*", "interface-blockstore", "file-type"],
      ["ipfs"],
      "Content becomes blocks in api/ipfs.",
    ),
    packageOf(
      "network-in-ipfs-node",
      ["libp2p", "@libp2p", "@helia", "@multiformats"],
      ["ipfs-node"],
      "Optional packages: without them everything else must load.",
    ),
    {
      name: "ipfs-node-is-loaded-on-demand",
      comment: "Its packages are optional, and it opens connections: only the setting brings it in.",
      severity: "error",
      from: { path: "^api/", pathNot: folder("ipfs-node") },
      to: { path: folder("ipfs-node"), dynamic: false, dependencyTypesNot: ["type-only"] },
    },
    packageOf(
      "requests-to-strangers",
      ["undici", "ipaddr\\.js"],
      ["outbound", "webhooks", "media", "ipfs-node"],
      "Guarded by api/outbound.",
    ),
    {
      name: "service-imports-only-itself",
      comment: "Of the contracts it uses what is committed in contracts/generated, never the output of a build.",
      severity: "error",
      from: { path: "^api/" },
      to: { path: "^(scripts|test|types|contracts)/", pathNot: "^contracts/generated/" },
    },
    {
      name: "starts-without-a-build",
      comment: "These run on a fresh clone without a compiler, so they may not use the output of a build.",
      severity: "error",
      from: { path: "^scripts/(start|deploy)/" },
      to: { path: "^types/" },
    },
    { name: "scripts-import-no-tests", severity: "error", from: { path: "^scripts/" }, to: { path: "^test/" } },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^types/", "^contracts/generated/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "types", "default"] },
  },
};
