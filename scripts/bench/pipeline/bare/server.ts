import type { AddressInfo } from "node:net";

import BetterSqlite3 from "better-sqlite3";
import express from "express";
import { z } from "zod";

/**
 * Measures Express and SQLite alone on this machine, as a baseline: one endpoint validates and stores a mint (group
 * commit, as durable as the service), and one answers a prepared query. It runs as a separate process, like the
 * service. Arguments: the file to write, and the service's database to read.
 */
const [written = "", read = ""] = process.argv.slice(2);

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const body = z.strictObject({ collection_address: address, to_address: address });
interface Waiting {
  id: string;
  command: string;
  done: () => void;
}

function openWriter(): (group: Waiting[]) => void {
  const database = new BetterSqlite3(written);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("create table requests (seq integer primary key, id text unique, command text, created_at integer)");
  const insert = database.prepare("insert into requests (id, command, created_at) values (?, ?, ?)");
  return database.transaction((group: Waiting[]) => {
    for (const { id, command } of group) insert.run(id, command, Date.now());
  });
}

function openReader(): (owner: string) => unknown[] {
  if (read === "") return () => [];
  const database = new BetterSqlite3(read, { readonly: true });
  const query = database.prepare(
    `select h.contract, h.token_id, h.quantity, n.token_uri, n.metadata, n.minted_at, c.name, c.type
       from holdings h
       join nfts n on n.contract = h.contract and n.token_id = h.token_id
       join collections c on c.address = h.contract
      where h.owner = ? order by h.seq limit 30`,
  );
  return (owner) => query.all(owner);
}

const commit = openWriter();
const contents = openReader();
let waiting: Waiting[] = [];

function store(id: string, command: string): Promise<void> {
  return new Promise((done) => {
    waiting.push({ id, command, done });
    if (waiting.length > 1) return;
    setImmediate(() => {
      const group = waiting;
      waiting = [];
      commit(group);
      for (const member of group) member.done();
    });
  });
}

const app = express();
// The service hashes no answer either.
app.disable("etag");
app.use(express.json());
app.post("/mints", async (request, response) => {
  const fields = body.parse(request.body);
  const id = crypto.randomUUID();
  await store(id, JSON.stringify(fields));
  response.json({ request_id: id });
});
app.get("/contents/:owner", (request, response) => {
  response.json({ nfts: contents(request.params.owner) });
});
const server = app.listen(0, "127.0.0.1", () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on("disconnect", () => process.exit());
