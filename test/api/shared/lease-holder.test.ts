import { expect } from "chai";

import { holderIsGone, newLeaseHolder } from "../../../api/shared/lease-holder.ts";
import { TestProcess } from "../../support/process.ts";

describe("holderIsGone", () => {
  const parts = () => newLeaseHolder().split("/") as [host: string, namespace: string, pid: string, random: string];

  it("is false for a holder of this process, and true for an earlier process with the same id", () => {
    const own = newLeaseHolder();
    expect(holderIsGone(own)).to.equal(false);
    expect(holderIsGone(`${own}-of-another-process`)).to.equal(true);
  });

  it("tells whether another process of this host runs", async () => {
    const [host, namespace] = parts();
    const other = new TestProcess(["-e", "setInterval(() => {}, 1000)"], {});
    const holder = [host, namespace, String(other.child.pid), "x"].join("/");
    expect(holderIsGone(holder)).to.equal(false);
    await other.end("SIGKILL");
    expect(holderIsGone(holder)).to.equal(true);
  });

  it("is false for a process of another host or container, whose process ids say nothing here", () => {
    const [host, namespace, pid, random] = parts();
    expect(holderIsGone(["elsewhere", namespace, pid, random].join("/"))).to.equal(false);
    expect(holderIsGone([host, "pid%3A%5B1%5D", pid, "x"].join("/"))).to.equal(false);
    expect(holderIsGone("elsewhere")).to.equal(false);
  });
});
