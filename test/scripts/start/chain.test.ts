import { join } from "node:path";

import { expect } from "chai";

import { Rpc } from "../../../api/chain/rpc.ts";
import { anvilBinary } from "../../../scripts/scene/anvil.ts";
import { freePort } from "../../../scripts/scene/loopback.ts";
import { startAnvil, startHardhat } from "../../../scripts/start/chain.ts";
import { StateKeeper, unpackState } from "../../../scripts/start/kept-state.ts";
import { useFolder } from "../../support/use-folder.ts";

const BLOCKS = 50;

interface Block {
  number: string;
  hash: string;
  timestamp: string;
}

/** Mines blocks as fast as it can. @returns the newest one, in whose second or before it the mining ended. */
async function mineMany(rpcUrl: string): Promise<Block> {
  const rpc = new Rpc(rpcUrl);
  for (let mined = 0; mined < BLOCKS; mined++) await rpc.call("evm_mine", []);
  return (await rpc.call("eth_getBlockByNumber", ["latest", false])) as Block;
}

describe("the blocks of a local chain", () => {
  const folder = useFolder();
  const { signal } = new AbortController();
  const place = async () => ({ port: await freePort(), logFile: join(folder.path, "chain.log") });
  const withAnvil = anvilBinary() === null ? it.skip : it;

  it("are not later than the clock with `npm run chain`", async () => {
    const chain = await startHardhat(await place(), signal);
    try {
      const { timestamp } = await mineMany(chain.rpcUrl);
      expect(Number(timestamp)).to.be.at.most(Date.now() / 1000);
    } finally {
      await chain.stop();
    }
  });

  withAnvil(
    "are not later than the clock with `npm start`, and not earlier when it goes on, with the same blocks",
    async () => {
      const blocks: string[] = [];
      // The third one continues the state of a chain that was continued.
      for (let start = 0; start < 3; start++) {
        const state = start === 0 ? null : await unpackState(folder.path);
        const started = Math.floor(Date.now() / 1000);
        const chain = await startAnvil(await place(), { program: anvilBinary()!, state }, signal);
        try {
          const rpc = new Rpc(chain.rpcUrl);
          const hashes = Array.from({ length: blocks.length }, async (_, number) => {
            return ((await rpc.call("eth_getBlockByNumber", [`0x${number.toString(16)}`, false])) as Block).hash;
          });
          expect(await Promise.all(hashes)).to.deep.equal(blocks);
          const { number, timestamp } = await mineMany(chain.rpcUrl);
          expect(Number(timestamp)).to.be.within(started, Date.now() / 1000);
          for (let next = blocks.length; next <= Number(number); next++) {
            const block = (await rpc.call("eth_getBlockByNumber", [`0x${next.toString(16)}`, false])) as Block;
            blocks.push(block.hash);
          }
          await new StateKeeper(chain.rpcUrl, folder.path, () => undefined).finish();
        } finally {
          await chain.stop();
        }
      }
      expect(blocks).to.have.length(3 * BLOCKS + 1);
    },
  );
});
