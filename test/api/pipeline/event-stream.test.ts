import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { ApiClient } from "../../support/api-client.ts";
import { EventReader } from "../../support/event-reader.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";

const REQUESTS = 120;
/** Lengths of the connections, in events. */
const PIECES = [1, 7, 2, 19, 3, 31];

/*
 * Two API processes, and the others in a third: no event is stored by the process that sends it. The reader breaks its
 * connections while requests settle, goes on at the other process, and one of the two is killed.
 */
describe("an event stream that reconnects while requests settle, given several processes", () => {
  const moneta = useService({ node: "deployed" });
  let processes: TestProcess[];
  let urls: string[];
  let collection: string;
  let wallet: string;

  before(async () => {
    wallet = await moneta.api.wallet();
    collection = await moneta.api.collection({ type: "ERC721" });
    await moneta.stop();
    ({ processes, urls } = await moneta.startApis(2));
    await moneta.spawn({ ROLES: "relayer,indexer,webhooks,media" }).printed(/"msg":"serving"/);
  });

  it("loses none and repeats none, in the order of the feed", async () => {
    const api = ApiClient.at(urls[1]!, moneta.app.token);
    const begin = await EventReader.open(`${urls[0]!}/v1/events`, moneta.app.token);
    begin.close();
    const start = begin.position;
    const minting = mint(api);

    const seen: string[] = [];
    let position = start;
    let finals = 0;
    for (let turn = 0; finals < REQUESTS; turn++) {
      // The first process dies in the middle; from then on, the other one is asked.
      if (seen.length > REQUESTS && !processes[0]!.exited) await processes[0]!.end("SIGKILL");
      const url = processes[0]!.exited ? urls[1]! : urls[turn % 2]!;
      const reader = await EventReader.open(`${url}/v1/events`, moneta.app.token, { "last-event-id": position });
      const left = 2 * REQUESTS - seen.length;
      await reader.first(Math.min(left, PIECES[turn % PIECES.length]!));
      // More may have come meanwhile: a client takes what it has read.
      reader.close();
      const taken = [...reader.events];
      position = reader.position;
      seen.push(...taken.map(({ body }) => body.id));
      finals += taken.filter(({ type }) => type === "completed").length;
    }
    await minting;
    expect(seen).to.deep.equal(await feedAfter(api, start));
    expect(seen).to.have.length(2 * REQUESTS);
    expect(new Set(seen)).to.have.property("size", 2 * REQUESTS);
  });

  async function mint(api: ApiClient): Promise<void> {
    const item = { collection_address: collection, to_address: wallet };
    for (let sent = 0; sent < REQUESTS; sent += 20) {
      await api.ok("POST", "/v1/nfts/batch", { items: Array(10).fill(item) });
      await Promise.all(Array.from({ length: 10 }, () => api.accept("/v1/nfts", item)));
    }
  }

  async function feedAfter(api: ApiClient, start: string): Promise<string[]> {
    const ids: string[] = [];
    for (let after = start; ;) {
      const page = await api.ok<Shape<"EventsFeed">>("GET", `/v1/events?after=${after}`);
      if (page.events.length === 0) return ids;
      ids.push(...page.events.map(({ id }) => id));
      after = page.next;
    }
  }
});
