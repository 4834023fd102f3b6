import { setTimeout as delay } from "node:timers/promises";

import { expect } from "chai";

import { LeaseLost, whileLeased } from "../../../api/shared/lease.ts";

const RENEW = 5;

describe("whileLeased", () => {
  const never = new AbortController().signal;
  let renewals: number;
  let renew: () => Promise<void>;

  beforeEach(() => {
    renewals = 0;
    renew = () => {
      renewals += 1;
      return Promise.resolve();
    };
  });

  const leased = <T>(work: (stop: AbortSignal) => Promise<T>, abort = never) =>
    whileLeased({ renew: () => renew(), every: RENEW }, abort, work);
  const ended = (stop: AbortSignal) =>
    new Promise<void>((resolve) => {
      stop.addEventListener("abort", () => resolve());
    });
  async function renewed(times: number): Promise<void> {
    while (renewals < times) await delay(1);
  }

  it("renews the lease while the work runs, and no longer", async () => {
    const result = await leased(async () => {
      await renewed(3);
      return "done";
    });
    expect(result).to.equal("done");
    const after = renewals;
    await delay(4 * RENEW);
    expect(renewals).to.equal(after);
  });

  it("lets an abort end the work without an error", async () => {
    const abort = new AbortController();
    const work = leased(async (stop) => {
      await ended(stop);
      return "stopped";
    }, abort.signal);
    abort.abort();
    expect(await work).to.equal("stopped");
  });

  describe("given a lease that is lost", () => {
    const lost = new LeaseLost("taken over");

    beforeEach(() => {
      renew = () => Promise.reject(lost);
    });

    it("stops the work, and throws after the work has stopped", async () => {
      let stopped = false;
      const result = leased(async (stop) => {
        await ended(stop);
        await delay(RENEW);
        stopped = true;
      });
      expect(await result.catch((error: unknown) => error)).to.equal(lost);
      expect(stopped).to.equal(true);
    });

    it("throws the lost lease, not the error that the work throws because of it", async () => {
      const result = leased(async (stop) => {
        await ended(stop);
        throw new Error("stopped half way");
      });
      expect(await result.catch((error: unknown) => error)).to.equal(lost);
    });
  });
});
