import { FairSlots } from "../../../../api/shared/fair-slots.ts";
import { inSnapshot } from "../../../../api/store/db/engine.ts";
import {
  addAnnouncement,
  dueAnnouncements,
  forgetAnnouncement,
  putOffAnnouncement,
} from "../../../../api/store/media/announcements.ts";
import {
  failMediaJob,
  finishMediaJob,
  insertMediaJobs,
  oldestMediaJob,
  renewMediaJob,
  returnAbandonedJobs,
  returnMediaJob,
  takeMediaJobs,
} from "../../../../api/store/media/media-jobs.ts";
import { forgetFile, storedFiles, textsThatNameContent } from "../../../../api/store/media/media-roots.ts";
import { findMediaType, insertMedia } from "../../../../api/store/media/media.ts";
import {
  addPin,
  finishPin,
  finishUnpin,
  isHostedSince,
  keepContent,
  removePin,
  renewPins,
  returnPin,
  takePins,
  waitingPins,
} from "../../../../api/store/media/pins.ts";
import { BUSY } from "../support/large-database.ts";
import { firstPages, NOW, SLOTS, type Tour } from "./tour.ts";

const UNAVAILABLE = { ok: false, errorCode: "media_unavailable", errors: null } as const;

export async function runMedia(tour: Tour): Promise<void> {
  const { read, write } = tour;
  await jobs(tour);
  await write((trx) => insertMedia(trx, { cid: "new", type: "image/png", size: 1 }, NOW));
  await findMediaType(read, "cid-1");
  await firstPages(storedFiles(read), 1_000);
  await write((trx) => forgetFile(trx, "new"));
  await write((trx) => addPin(trx, "new", NOW));
  const pins = await write((trx) => takePins(trx, { now: NOW, leaseUntil: NOW + 60_000, limit: 10 }));
  await write((trx) => renewPins(trx, pins, NOW + 90_000));
  const [first, second, third] = pins;
  if (first === undefined || second === undefined || third === undefined) throw new Error("pins are due");
  await write((trx) => finishPin(trx, first));
  await write((trx) => returnPin(trx, second, NOW, "no answer"));
  await write((trx) => returnPin(trx, third, NOW, null));
  await write((trx) => finishUnpin(trx, third));
  await write((trx) => keepContent(trx, ["new"], NOW));
  await isHostedSince(read, "new", NOW);
  await write((trx) => removePin(trx, "new"));
  await waitingPins(read);
  await write((trx) => addAnnouncement(trx, "new"));
  await dueAnnouncements(read, NOW, 100);
  await write((trx) => putOffAnnouncement(trx, "cid-1", NOW + 90_000));
  await write((trx) => forgetAnnouncement(trx, "new"));
}

async function jobs({ read, write }: Tour): Promise<void> {
  const take = (holder: string) => {
    const slots = new FairSlots(SLOTS);
    return write((trx) => takeMediaJobs(trx, { now: NOW, leaseUntil: NOW + 60_000, holder, slots }));
  };
  await take("gone");
  const [finished, created, failed, returned] = await take("here");
  if (finished === undefined || created === undefined || failed === undefined || returned === undefined)
    throw new Error("media jobs are due");
  await write((trx) => returnAbandonedJobs(trx, (holder) => holder === "gone"));
  await write((trx) => renewMediaJob(trx, finished, NOW + 90_000));
  await write((trx) => finishMediaJob(trx, finished, finished.request.command, NOW));
  const command = { kind: "create-erc1155", collection: BUSY.editions, to: BUSY.wallet, tokenId: "9" } as const;
  const token = { ...command, quantity: "1", uri: null, metadata: { name: "copied" } };
  await write((trx) => finishMediaJob(trx, created, token, NOW));
  await write((trx) => failMediaJob(trx, failed, UNAVAILABLE, NOW));
  await write((trx) => returnMediaJob(trx, returned, NOW, true));
  await write((trx) => insertMediaJobs(trx, [{ id: finished.request.id, appId: BUSY.app }]));
  await oldestMediaJob(read);
  // To the end: the requests come after the tokens and the collections.
  await inSnapshot(read, async (db) => {
    for await (const _text of textsThatNameContent(db));
  });
}
