import { Socket as Datagrams } from "node:dgram";
import { Socket } from "node:net";

import { expect } from "chai";

import { useService } from "../../support/use-service.ts";

describe("outbound connections of the service", function () {
  this.timeout(60_000);
  const moneta = useService({ start: false });
  const { api } = moneta;

  it("go only to the chain's node by default, with hosted media and a freeze", async () => {
    // Every library opens its connections through this function.
    const targets = new Set<string>();
    const connect = Object.getOwnPropertyDescriptor(Socket.prototype, "connect")!;
    Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
      const [first] = args.flat() as { host?: string; port?: number | string; path?: string }[];
      targets.add(first?.path ?? `${String(first?.host)}:${String(first?.port)}`);
      return (connect.value as (...args: unknown[]) => Socket).apply(this, args);
    };
    // Peer-to-peer nodes find each other with datagrams.
    const bind = Object.getOwnPropertyDescriptor(Datagrams.prototype, "bind")!;
    Datagrams.prototype.bind = function (this: Datagrams, ...args: unknown[]) {
      targets.add("datagrams");
      return (bind.value as (...args: unknown[]) => Datagrams).apply(this, args);
    };
    try {
      await moneta.start();
      const collection = await api.collection({ type: "ERC721" });
      const body = {
        collection_address: collection,
        to_address: await api.wallet(),
        image: "data:,cat",
        copy_media: true,
      };
      await api.completed("/v1/nfts", body);
      await api.completed(`/v1/collections/${collection}/freeze`, {});
      // The second is this test itself, as an app.
      const expected = [moneta.node.url, moneta.baseUrl].map((url) => new URL(url).host).sort();
      await moneta.stop();
      expect([...targets].map((target) => target.replace("localhost", "127.0.0.1")).sort()).to.deep.equal(expected);
    } finally {
      Object.defineProperty(Socket.prototype, "connect", connect);
      Object.defineProperty(Datagrams.prototype, "bind", bind);
    }
  });
});
