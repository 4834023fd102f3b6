import { profile, profileAt } from "./profile.ts";
import type { Row } from "./row.ts";
import { usagePerRequest } from "./usage.ts";
import type { World } from "./world.ts";

/** Mints before a measurement: the code is compiled by then. */
export const WARM_UP = 300;

export interface Measured {
  rate: number;
  usage: NonNullable<Row["usage"]>;
}

/** @param before how many mints the app had completed. */
export async function mintAll(
  world: World,
  collection: string,
  to: string,
  mints: number,
  before: number,
): Promise<Measured> {
  const body = { collection_address: collection, to_address: to };
  return measure(world, mints, async () => {
    await world.load.run(mints, () => ({ method: "POST", path: "/v1/nfts", body }));
    await world.untilCompleted("mint", before + mints);
  });
}

export async function transferAll(
  world: World,
  { collection, from, to }: { collection: string; from: string; to: string },
  transfers: number,
): Promise<Measured> {
  return measure(world, transfers, async () => {
    await world.load.run(transfers, (index) => ({
      method: "POST",
      path: "/v1/transfers",
      body: { contract_address: collection, from_address: from, to_address: to, token_id: index + 1 },
    }));
    await world.untilCompleted("transfer", transfers);
  });
}

/** The rate and the use of resources while `work` brings about some requests. */
export async function measure(world: World, requests: number, work: () => Promise<void>): Promise<Measured> {
  const [before, nodeBefore] = [await world.usage(), await world.nodeCpuMs()];
  const started = performance.now();
  await work();
  const rate = (requests * 1000) / (performance.now() - started);
  const [after, nodeAfter] = [await world.usage(), await world.nodeCpuMs()];
  const nodeCpuMs = nodeBefore === null || nodeAfter === null ? null : (nodeAfter - nodeBefore) / requests;
  return { rate, usage: { ...usagePerRequest(before, after, requests), nodeCpuMs } };
}

/** Profiles every process of the service while it does some work, and prints where its time went. */
export async function profileAll(
  { processes }: World,
  folder: string | null,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  if (folder === null) return;
  const fileOf = (index: number) =>
    profileAt(folder, processes.length === 1 ? name : `${name}-${(index + 1).toString()}`);
  const profiled = processes.reduceRight<() => Promise<unknown>>(
    (inner, { instruments }, index) =>
      () =>
        profile(instruments, fileOf(index), inner),
    work,
  );
  await profiled();
}
