import { expect } from "chai";

import { type Client, createClient } from "../../client/client.ts";
import { ApiRefusal, ConnectionFailed } from "../../client/errors.ts";
import { collect } from "../support/collect.ts";
import { rejectionOf } from "../support/rejection.ts";
import { useService } from "../support/use-service.ts";

describe("exports of the client", () => {
  const moneta = useService();
  const { api } = moneta;
  const clientWith = (fetch?: (request: Request) => Promise<Response>): Client =>
    createClient({ baseUrl: moneta.baseUrl, token: moneta.app.token, maxRetries: 0, ...(fetch && { fetch }) });

  it("yield all holders of a collection, and all wallets of the app", async () => {
    const collection = await api.collection({ type: "ERC1155" });
    const { address } = await clientWith().getOrCreateWallet("exported user");
    await api.create(collection, address, 1, 5);
    const holders = await collect(clientWith().exportHolders(collection));
    expect(holders).to.have.length(1);
    expect(holders[0]).to.include({ user_identifier: "exported user", address, token_id: 1, quantity: 5 });
    const wallets = await collect(clientWith().exportWallets());
    expect(wallets.map((wallet) => wallet.address)).to.include(address);
  });

  it("let go of the answer when the loop is left early", async () => {
    for (let times = 0; times < 3; times++) {
      for await (const { address } of clientWith().exportWallets()) {
        expect(address).to.match(/^0x/);
        break;
      }
    }
  });

  it("put rows together that arrive in parts, and throw when the connection breaks", async () => {
    const parts = ['{"address":"ä', '"}\n{"addr', 'ess":"b"}\n{"ad'].map((part) => Buffer.from(part));
    const first = Buffer.concat(parts);
    // In the middle of a letter.
    const cut = first.indexOf(0xc3) + 1;
    const broken = clientWith(() => {
      const sent = [first.subarray(0, cut), first.subarray(cut)];
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const part = sent.shift();
          if (part === undefined) controller.error(new TypeError("terminated"));
          else controller.enqueue(part);
        },
      });
      return Promise.resolve(new Response(body, { headers: { "content-type": "application/x-ndjson" } }));
    });
    const seen: string[] = [];
    const read = async () => {
      for await (const { address } of broken.exportWallets()) seen.push(address);
    };
    expect(await rejectionOf(read())).to.be.instanceOf(ConnectionFailed);
    expect(seen).to.deep.equal(["ä", "b"]);
  });

  it("throw what the service refuses", async () => {
    const refusal = await rejectionOf(
      collect(clientWith().exportHolders("0x00000000000000000000000000000000000000A1")),
    );
    expect(refusal).to.be.instanceOf(ApiRefusal).and.to.include({ errorCode: "not_found" });
  });
});
