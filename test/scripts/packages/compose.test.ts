import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import { HDNodeWallet } from "ethers";
import { parse } from "yaml";

import { REMOVED_SETTINGS } from "../../../api/config/removed-settings.ts";
import { parseSettings } from "../../../api/config/settings.ts";
import { GROUPS, ROLES, VARIABLES } from "../../../api/config/variables.ts";
import { ROOT } from "../../support/process.ts";
import { projectFile } from "../support/project-file.ts";

type Volume = string | { source: string; target: string; read_only?: boolean };

interface ComposeService {
  image: string;
  profiles?: string[];
  command?: string[];
  environment?: Record<string, string>;
  deploy?: { replicas: number };
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  networks?: string[];
  volumes?: Volume[];
  secrets?: string[];
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
  volumes: Record<string, unknown>;
  networks: Record<string, unknown>;
}

/** Values of the variables that an installation must set. */
const FILLED: Record<string, string> = {
  DATABASE_PASSWORD: "0123456789abcdef",
  SERVICE_DATABASE_PASSWORD: "1123456789abcdef",
  RELAYER_DATABASE_PASSWORD: "4123456789abcdef",
  MEDIA_DATABASE_PASSWORD: "2123456789abcdef",
  IPFS_DATABASE_PASSWORD: "3123456789abcdef",
  RPC_URL: "https://node.example/key",
  PUBLIC_URL: "https://nft.example.com",
  SECRET_KEYS: Buffer.alloc(32, 7).toString("base64"),
  XPUB: HDNodeWallet.fromSeed(Buffer.alloc(32, 7)).derivePath("m/44'/60'/0'").neuter().extendedKey,
  SEED_PASSPHRASE: "correct horse",
};
/** The image sets these, or the containers have no use for them: the image has no `pg_dump`, SEED_PASSPHRASE is set. */
// RPC_URL arrives as RPC_URLS.
const NOT_PASSED = [
  "RPC_URL",
  "PORT",
  "HOST",
  "DATA_DIR",
  "DEPLOYMENTS_DIR",
  "METRICS_PORT",
  "PG_BIN",
  "SEED_PASSPHRASE_FILE",
];
/** The user of PostgreSQL of each process. */
const USERS: Record<string, string> = {
  migrate: "moneta",
  relayer: "moneta_signer",
  media: "moneta_copies",
  ipfs: "moneta_peers",
};
/** Made by the operator before the first start. */
const OF_THE_OPERATOR = ["./deployments", "./secrets/seed.jwe"];

const LIMITS: string[] = Object.keys(GROUPS.Limits);
/** Those at which the start can be refused. Compose passes on what it names, and nothing else. */
const REMOVED = REMOVED_SETTINGS.flatMap(({ variable, refused }) => (refused === undefined ? [] : [variable]));
const text = projectFile("compose.yaml");
const file = composeOf(FILLED);
const processes = Object.entries(file.services).filter(([, { image }]) => image === "moneta");
const workers = processes.filter(([name]) => name !== "migrate");

describe("compose.yaml", () => {
  it("gives each process settings that exist and are valid", () => {
    const known = [...Object.keys(VARIABLES), ...REMOVED];
    for (const [name, { environment = {} }] of processes) {
      expect(known, name).to.include.members(Object.keys(environment));
      expect(() => parseSettings(environment), name).not.to.throw();
    }
  });

  it("passes every setting on, and all limits and removed settings to every process", () => {
    const all = Object.keys(VARIABLES);
    const passed = new Set(processes.flatMap(([, { environment = {} }]) => Object.keys(environment)));
    expect([...passed, ...NOT_PASSED]).to.include.members(all);
    expect(NOT_PASSED.filter((variable) => passed.has(variable))).to.deep.equal([]);
    for (const [name, { environment = {} }] of processes) {
      expect(Object.keys(environment), name).to.include.members([...LIMITS, ...REMOVED]);
      const own = composeOf({ ...FILLED, MAX_BACKLOG: "7" }).services[name]!.environment!;
      expect(parseSettings(own).limits.backlog, name).to.equal(7);
    }
  });

  it("connects each process as a user with no more rights than it needs, and with no other's password", () => {
    const passwords = Object.keys(FILLED).filter((variable) => variable.endsWith("DATABASE_PASSWORD"));
    for (const [name, { environment = {} }] of processes) {
      const { username, password } = new URL(environment["DATABASE_URL"]!);
      expect(username, name).to.equal(USERS[name] ?? "moneta_api");
      const seen = passwords.filter((variable) => JSON.stringify(environment).includes(FILLED[variable]!));
      expect(
        seen.map((variable) => FILLED[variable]),
        name,
      ).to.deep.equal([password]);
    }
  });

  it("runs every role, each with no more keys than it needs", () => {
    const rolesOf = ({ environment }: ComposeService) => environment!["ROLES"]!.split(",");
    expect(workers.flatMap(([, service]) => rolesOf(service))).to.have.members([...ROLES]);
    for (const [name, service] of processes) {
      const roles = name === "migrate" ? [] : rolesOf(service);
      const { SECRET_KEYS, XPUB, SEED_PASSPHRASE } = service.environment!;
      expect(SECRET_KEYS !== undefined, name).to.equal(roles.includes("api") || roles.includes("webhooks"));
      expect(XPUB !== undefined, name).to.equal(roles.includes("api"));
      expect(SEED_PASSPHRASE !== undefined, name).to.equal(roles.includes("relayer"));
      expect(service.secrets ?? [], name).to.deep.equal(roles.includes("relayer") ? ["seed"] : []);
    }
  });

  it("asks for each needed variable, and has a line for every variable in ops/compose.env", () => {
    const needed = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!));
    const all = new Set([...text.matchAll(/\$\{(\w+):/g)].map(([, name]) => name!));
    const [mandatory, optional] = projectFile("ops/compose.env").split("# Optional\n");
    const named = (part: string) => [...part.matchAll(/^(\w+)=$/gm)].map(([, name]) => name!);
    expect(named(mandatory!)).to.have.members([...needed]);
    // Compose itself reads COMPOSE_PROFILES.
    const asked = [...all].filter((name) => !needed.has(name) && !REMOVED.includes(name));
    expect(named(optional!)).to.have.members([...asked, "COMPOSE_PROFILES"]);
    expect(() => composeOf({ ...FILLED, RPC_URL: "" })).to.throw("RPC_URL is not set. Copy ops/compose.env to .env");
    expect(() => composeOf({ ...FILLED, RPC_URL: "", RPC_URLS: "http://a.example,http://b.example" })).to.not.throw();
  });

  it("mounts files that exist, and volumes, networks and secrets that it declares", () => {
    for (const [name, service] of Object.entries(file.services)) {
      for (const volume of service.volumes ?? []) {
        const source = typeof volume === "string" ? volume.split(":")[0]! : volume.source;
        if (!source.startsWith(".")) expect(Object.keys(file.volumes), name).to.include(source);
        else if (!OF_THE_OPERATOR.includes(source)) expect(existsSync(join(ROOT, source)), source).to.equal(true);
      }
      expect(Object.keys(file.networks)).to.include.members(service.networks ?? []);
    }
    for (const secret of Object.values(file.secrets)) expect(OF_THE_OPERATOR).to.include(secret.file);
  });

  it("lets no service write outside its volumes, or gain rights, or be reached from outside", () => {
    for (const [name, service] of Object.entries(file.services)) {
      expect(service.read_only, name).to.equal(true);
      expect(service.cap_drop, name).to.deep.equal(["ALL"]);
      expect(service.security_opt, name).to.deep.equal(["no-new-privileges:true"]);
      // The port for other IPFS nodes is public by its nature, and its services are optional.
      for (const port of service.ports ?? []) {
        if (service.profiles === undefined) expect(port, name).to.match(/^127\.0\.0\.1:/);
        else expect(port, name).to.match(/^4001:4001(\/udp)?$/);
      }
    }
  });

  it("has a database with enough connections for a rolling restart", () => {
    const max = Number(/max_connections=(\d+)/.exec(file.services["database"]!.command!.join(" "))![1]);
    const pools = workers.map(([, { environment, deploy }]) => [environment!["DATABASE_POOL"], deploy?.replicas ?? 1]);
    const used = pools.reduce((sum, [pool, replicas]) => sum + Number(pool) * Number(replicas), 0);
    expect(2 * used + 10).to.be.at.most(max);
  });
});

describe("monitoring of compose.yaml", () => {
  const prometheus = parse(projectFile("ops/prometheus.yml")) as {
    rule_files: string[];
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  const mountsOf = (name: string) => (file.services[name]!.volumes as string[]).map((volume) => volume.split(":"));

  it("scrapes each process that runs by default", () => {
    const expected = workers
      .filter(([, { profiles }]) => profiles === undefined)
      .flatMap(([name, { deploy }]) =>
        Array.from({ length: deploy?.replicas ?? 1 }, (_, index) => `moneta-${name}-${(index + 1).toString()}:9464`),
      );
    const [job] = prometheus.scrape_configs;
    expect(job!.job_name).to.equal("moneta");
    expect(job!.static_configs.flatMap(({ targets }) => targets)).to.have.members(expected);
    expect(projectFile("Dockerfile")).to.contain("METRICS_PORT=9464");
    for (const [name, { environment, networks }] of workers) {
      expect(environment!["METRICS_HOST"], name).to.equal("0.0.0.0");
      expect(networks, name).to.include("metrics");
    }
  });

  it("gives Prometheus the rules, and Grafana the dashboard, where their configuration expects them", () => {
    const rules = mountsOf("prometheus").map(([, target]) => target);
    for (const name of prometheus.rule_files) expect(rules).to.include(`/etc/prometheus/${name}`);
    const { providers } = parse(projectFile("ops/grafana/dashboards.yml")) as {
      providers: { options: { path: string } }[];
    };
    const dashboard = mountsOf("grafana").find(([source]) => source === "./ops/grafana.json")![1];
    expect(dashboard).to.equal(`${providers[0]!.options.path}/moneta.json`);
    expect(file.services["grafana"]!.environment!["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]).to.equal(dashboard);
    const { datasources } = parse(projectFile("ops/grafana/datasources.yml")) as { datasources: { url: string }[] };
    expect(datasources[0]!.url).to.equal("http://prometheus:9090");
  });
});

/** The file with the variables replaced as Compose does: after it is parsed. @throws when a needed one is missing */
function composeOf(variables: Record<string, string>): ComposeFile {
  const replace = (value: string): string =>
    // A default may have a variable of its own.
    value.replace(
      /\$\{(\w+):([-?])((?:\$\{[^}]*\}|[^}])*)\}/g,
      (_, name: string, kind: string, rest: string): string => {
        const given = variables[name] ?? "";
        if (given === "" && kind === "?") throw new Error(`${name} ${rest}`);
        return given === "" ? replace(rest) : given;
      },
    );
  const reviver = (_: unknown, value: unknown) => (typeof value === "string" ? replace(value) : value);
  return JSON.parse(JSON.stringify(parse(text, { merge: true })), reviver) as ComposeFile;
}
