import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Agent, fetch } from "undici";

import { answerOf, type Client, createClient } from "../../../client/client.ts";
import { Pooler } from "../../postgres/pooler.ts";
import { freePort } from "../../scene/loopback.ts";
import { Program } from "../../scene/program.ts";
import { output, programAt, replaced } from "../../scene/system.ts";
import { World } from "../world.ts";

/** A step of the rehearsal, and what it showed. */
export interface Finding {
  what: string;
  /** What was seen; null: it could not be tried here. */
  result: string | null;
}

const MINTS = 300;
/** Larger than a buffer of nginx, and than one part of a hosted file. */
const FILE_BYTES = 20 * 1024 * 1024;
const HOST = "nft.example.com";
/** Another address of loopback, so that the caller is not the proxy. */
const CALLER = "127.0.0.2";

/** An address that no wallet of the service has. */
const NOBODY = "0x00000000000000000000000000000000DeaDBeef";

/** Programs, and the packages of Debian that have them. */
const NEEDED = [
  ["nginx", "nginx-light"],
  ["pgbouncer", "pgbouncer"],
  ["openssl", "openssl"],
] as const;

export function notInstalled(what: string, program: string, debianPackage: string): Finding {
  return { what: `${what} (needs ${program}: Debian's package ${debianPackage})`, result: null };
}

/** @throws when what was seen is not what the documents say. */
export function require(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

/**
 * A start as in production: PostgreSQL behind PgBouncer, the service, and nginx or Caddy with TLS in front, each with the file of `ops`
 * that the documents name. Only ports, paths and names differ.
 */
export async function rehearseProduction(): Promise<Finding[]> {
  const [nginx, pgbouncer, openssl] = NEEDED.map(([program]) => programAt(program));
  if (nginx == null || pgbouncer == null || openssl == null) {
    const missing = NEEDED.filter(([program]) => programAt(program) === null);
    return missing.map(([program, name]) => notInstalled("A start as in production", program, name));
  }
  const world = await World.alone({ engine: "postgres" });
  const folder = mkdtempSync(join(tmpdir(), "moneta-rehearsal-"));
  const pooler = await Pooler.start(pgbouncer, join(folder, "pgbouncer"), new URL(world.service.databaseUrl));
  let front: Program | null = null;
  try {
    await world.service.kill();
    await world.service.start({ DATABASE_URL: pooler.url, TRUST_PROXY: "127.0.0.1", LOG_LEVEL: "info" });
    const { token } = world.app;
    const [serviceUrl = ""] = world.service.apiUrls;
    const port = await freePort();
    await makeCertificate(openssl, folder);
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, new URL(serviceUrl).port));
    const options = ["-c", join(folder, "nginx.conf"), "-p", folder, "-e", join(folder, "errors.log")];
    await output(nginx, ["-t", ...options]);
    front = new Program(["-g", "daemon off;", ...options], { command: nginx });
    const api = clientOf(port, token, folder);
    const collection = world.erc721;
    const nginxVersion = /nginx\/(\S+)/.exec(await output(nginx, ["-v"]))?.[1] ?? "";
    const seen = await behindProxy(`nginx ${nginxVersion}`, api, collection, world);
    seen.push(...(await behindCaddy(folder, { collection, token }, world)));
    return [...seen, await behindPooler(api, collection, pooler, world)];
  } finally {
    await front?.end("SIGTERM");
    await world.stop(false);
    await pooler.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Caddy with ops/Caddyfile, in the place of nginx. */
async function behindCaddy(
  folder: string,
  { collection, token }: { collection: string; token: string },
  world: World,
): Promise<Finding[]> {
  const caddy = programAt("caddy");
  if (caddy === null) return [notInstalled("Caddy", "caddy", "caddy")];
  const port = await freePort();
  const site = replaced(readFileSync("ops/Caddyfile", "utf8"), [
    [
      `${HOST} {`,
      `https://${HOST}:${port.toString()} {\nbind 127.0.0.1\ntls ${join(folder, "cert.pem")} ${join(folder, "key.pem")}`,
    ],
    ["127.0.0.1:3000", `127.0.0.1:${new URL(world.service.apiUrls[0] ?? "").port}`],
  ]);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, `{\nadmin off\nauto_https disable_redirects\n}\n${site}`);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const front = new Program(["run", "--adapter", "caddyfile", "--config", file], { command: caddy, env });
  try {
    const api = clientOf(port, token, folder);
    return await behindProxy(`Caddy ${await output(caddy, ["version"])}`, api, collection, world);
  } finally {
    await front.end("SIGTERM");
  }
}

async function behindProxy(proxy: string, api: Client, collection: string, world: World): Promise<Finding[]> {
  const body = { collection_address: collection, to_address: NOBODY };
  // The client repeats calls until the proxy listens.
  const events = api.events({ after: "start" });
  await events.next();
  const { request_id: id } = await answerOf(api.POST("/v1/nfts", { body }));
  let type = "";
  for await (const { event } of events) {
    if (event.request_id !== id) continue;
    type = event.type;
    break;
  }
  const { bytes } = await api.uploadMedia(randomBytes(FILE_BYTES));
  require(bytes === FILE_BYTES, `${String(bytes)} bytes were stored`);

  await answerOf(api.GET("/v1/accounts", { headers: { "x-forwarded-for": "203.0.113.9" } }));
  const log = readFileSync(join(world.folder, "service.log"), "utf8");
  require(log.includes(CALLER), "the log does not name the caller");
  require(!log.includes("203.0.113.9"), "the log has an address that the caller made up");
  return [
    { what: `${proxy}: an event stream through TLS`, result: `the event "${type}" came while the stream was open` },
    { what: `${proxy}: an upload of 20 MiB`, result: "stored with all its bytes" },
    { what: `${proxy}: X-Forwarded-For`, result: "the log names the caller, not an address that it made up" },
  ];
}

async function behindPooler(api: Client, collection: string, pooler: Pooler, world: World): Promise<Finding> {
  const items = Array.from({ length: MINTS }, () => ({ collection_address: collection, to_address: NOBODY }));
  const { results } = await answerOf(api.POST("/v1/nfts/batch", { body: { items } }));
  await pooler.restart();
  for (const result of results) {
    require("request_id" in result, JSON.stringify(result));
    await api.waitFor(result.request_id, { type: "mint" });
  }
  await world.service.cli("doctor");
  return {
    what: `PgBouncer ${await pooler.version()}, transaction pooling`,
    result: `${MINTS.toString()} mints completed, although PgBouncer restarted meanwhile; doctor finds nothing wrong`,
  };
}

async function makeCertificate(openssl: string, folder: string): Promise<void> {
  const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
  const names = ["-subj", `/CN=${HOST}`, "-addext", `subjectAltName=DNS:${HOST}`];
  await output(openssl, ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", ...files, ...names]);
}

/** ops/nginx.conf as the only server of an nginx of its own. */
function configuration(folder: string, port: number, apiPort: string): string {
  const server = replaced(readFileSync("ops/nginx.conf", "utf8"), [
    ["server 127.0.0.1:3000;", `server 127.0.0.1:${apiPort};`],
    ["listen 443 ssl;", `listen 127.0.0.1:${port.toString()} ssl;`],
    [`/etc/letsencrypt/live/${HOST}/fullchain.pem`, join(folder, "cert.pem")],
    [`/etc/letsencrypt/live/${HOST}/privkey.pem`, join(folder, "key.pem")],
  ]);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  return `pid ${join(folder, "nginx.pid")};\nevents {}\nhttp {\naccess_log off;\n${paths.join("\n")}\n${server}\n}\n`;
}

/** An app that calls the API through a proxy, from an address of its own. */
function clientOf(port: number, token: string, folder: string): Client {
  const lookup: LookupFunction = (_host, _options, found) => {
    found(null, "127.0.0.1", 4);
  };
  const ca = readFileSync(join(folder, "cert.pem"), "utf8");
  const dispatcher = new Agent({ localAddress: CALLER, connect: { ca, lookup } });
  const send = async (request: Request) => {
    const { method, signal } = request;
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
    const options = { method, signal, headers: [...request.headers], body, dispatcher };
    return (await fetch(request.url, options)) as unknown as Response;
  };
  // While PgBouncer is away, the service says 503 for a moment.
  return createClient({ baseUrl: `https://${HOST}:${port.toString()}`, token, fetch: send, maxRetries: 20 });
}
