import { FairShares } from "../../../../api/shared/fair-shares.ts";
import { setQuotas } from "../../../../api/store/apps/quotas.ts";
import { inSnapshot } from "../../../../api/store/db/sql.ts";
import { retryParked } from "../../../../api/store/db/under-way.ts";
import {
  addAnnouncement,
  dueAnnouncements,
  forgetAnnouncement,
  putOffAnnouncement,
} from "../../../../api/store/media/announcements.ts";
import { failUnsigned } from "../../../../api/store/media/fail-unsigned.ts";
import {
  insertMediaJobs,
  parkMediaJobs,
  oldestMediaJob,
  renewMediaJob,
  returnAbandonedJobs,
  returnMediaJob,
  leaseMediaJobs,
} from "../../../../api/store/media/media-jobs.ts";
import {
  forgetFile,
  hasForgotten,
  hostedContent,
  releaseForgotten,
  storedFiles,
  textsThatNameContent,
} from "../../../../api/store/media/media-roots.ts";
import { BlockIndex, DatabaseObjects } from "../../../../api/store/media/blocks.ts";
import {
  chooseMediaStore,
  finishMediaMove,
  hasContent,
  mediaStoreProblem,
  readMediaPlace,
  switchMediaStore,
} from "../../../../api/store/media/media-store.ts";
import {
  acceptMediaResult,
  endMediaJob,
  mediaFailure,
  waitingMediaResults,
} from "../../../../api/store/media/media-results.ts";
import {
  countCopied,
  findMediaType,
  insertMedia,
  isHosted,
  isStored,
  storedBytes,
} from "../../../../api/store/media/media.ts";
import {
  addPin,
  finishPin,
  finishUnpin,
  isHostedSince,
  keepContent,
  removePin,
  renewPins,
  returnPin,
  leasePins,
  waitingPins,
} from "../../../../api/store/media/pins.ts";
import { replaceCommand, storedTexts } from "../../../../api/store/requests/repair.ts";
import { BUSY } from "../support/large-database.ts";
import { firstPages, NOW, SHARES, type Tour } from "./tour.ts";
import { taker } from "../../../support/taker.ts";

const UNAVAILABLE = mediaFailure({ errorCode: "media_unavailable", field: "image", message: "no answer" });

export async function runMedia(tour: Tour): Promise<void> {
  const { read, write } = tour;
  await jobs(tour);
  await blocks(tour);
  await write((trx) => insertMedia(trx, [{ cid: "new", type: "image/png", size: 1 }], NOW));
  await write((trx) => countCopied(trx, BUSY.app, [{ cid: "new", type: "image/png", size: 1 }], NOW));
  await storedBytes(read, BUSY.app);
  await isStored(read, BUSY.app, "new");
  await isHosted(read, "new");
  await findMediaType(read, "cid-1");
  await firstPages(storedFiles(read), 1_000);
  await firstPages(hostedContent(read), 1_000);
  await write((trx) => forgetFile(trx, "new"));
  await hasForgotten(read);
  await write((trx) => releaseForgotten(trx, 100));
  await write((trx) => addPin(trx, "new", NOW));
  const pins = await write((trx) => leasePins(trx, { now: NOW, leaseUntil: NOW + 60_000, limit: 10 }));
  await write((trx) => renewPins(trx, pins, NOW + 90_000));
  const [first, second, third] = pins;
  if (first === undefined || second === undefined || third === undefined) throw new Error("pins are due");
  await write((trx) => finishPin(trx, first));
  await write((trx) => returnPin(trx, second, NOW, "no answer"));
  await write((trx) => returnPin(trx, third, NOW, null));
  await write((trx) => finishUnpin(trx, third));
  await write((trx) => keepContent(trx, ["new"], NOW));
  await write((trx) => isHostedSince(trx, "new", NOW));
  await write((trx) => removePin(trx, "new"));
  await waitingPins(read);
  await write((trx) => addAnnouncement(trx, "new"));
  await dueAnnouncements(read, NOW, 4);
  await write((trx) => putOffAnnouncement(trx, "cid-1", NOW + 90_000));
  await write((trx) => forgetAnnouncement(trx, "new"));
}

async function blocks(tour: Tour): Promise<void> {
  const { read, write } = tour;
  const store = "database";
  const [index, objects] = [new BlockIndex(tour, store, () => NOW), new DatabaseObjects(tour)];
  const upload = async (cid: string, object: string) => {
    await index.announce(object);
    await objects.put(object, Buffer.from("cat"));
    return index.record({ cid, object, size: 3 });
  };
  await upload("block", "object-1");
  await upload("block", "object-2");
  await upload("other", "object-3");
  await objects.get("object-2");
  await index.find("block");
  await firstPages(index.all(), 1_000);
  await index.touch("block");
  await index.end();
  await index.quarantine({ id: "collection", first: true }, ["block"], NOW + 1);
  await index.quarantine({ id: "collection", first: false }, ["other"], NOW + 1);
  await index.quarantined("collection");
  await index.restore("collection", "other");
  await index.confirm("collection");
  await index.removeConfirmed();
  await index.end("collection");
  await index.giveUpUploads(NOW);
  const doomed = await index.doomed();
  await objects.delete(doomed);
  await index.forget(doomed);
  await hasContent(read);
  await readMediaPlace(read);
  await write((trx) => chooseMediaStore(trx, "files"));
  await write((trx) => mediaStoreProblem(trx, "files"));
  await write((trx) => switchMediaStore(trx, "files", store));
  await write((trx) => finishMediaMove(trx));
}

async function jobs({ read, write }: Tour): Promise<void> {
  const take = async (holder: string) => {
    const shares = new FairShares(SHARES);
    const { taken } = await write((trx) =>
      leaseMediaJobs(trx, { ...taker(holder), now: NOW, leaseUntil: NOW + 60_000, shares }),
    );
    return taken;
  };
  await take("gone");
  const [finished, failed, returned] = await take("here");
  if (finished === undefined || failed === undefined || returned === undefined) throw new Error("media jobs are due");
  await write((trx) => returnAbandonedJobs(trx, (holder) => holder === "gone"));
  await write((trx) => renewMediaJob(trx, finished, NOW + 90_000));
  await write((trx) => endMediaJob(trx, finished, { kind: "files", cids: { image: "cid-1" } }));
  await write((trx) => endMediaJob(trx, failed, UNAVAILABLE));
  await waitingMediaResults(read, NOW, 100);
  // As requests that wait for content are.
  const token = { kind: "create-erc1155", collection: BUSY.editions, to: BUSY.wallet, tokenId: "9", quantity: "1" };
  const command = JSON.stringify({ ...token, uri: null, metadata: { image: "https://example.com/cat.png" } });
  const waiting = { status: "pending", ready_at: null, batch_id: null, command } as const;
  const ids = [finished.request.id, failed.request.id];
  await write((trx) => trx.updateTable("requests").set(waiting).where("id", "in", ids).execute());
  await write((trx) => setQuotas(trx, BUSY.app, { media_bytes: 1_000_000 }));
  await write((trx) => acceptMediaResult(trx, finished.request.id, NOW));
  await write((trx) => acceptMediaResult(trx, failed.request.id, NOW));
  await write((trx) => failUnsigned(trx, finished.request.id, "ended_by_operator", NOW));
  await storedTexts(read, finished.request.id);
  await write((trx) => replaceCommand(trx, finished.request.id, finished.request.command));
  await write((trx) => returnMediaJob(trx, returned, NOW, "counts"));
  const broken = { id: returned.request.id, fence: returned.fence, error: new Error("it always throws") };
  await write((trx) => parkMediaJobs(trx, [broken], NOW));
  await write((trx) => retryParked(trx, "media_job", broken.id));
  await write((trx) => insertMediaJobs(trx, [{ id: finished.request.id, appId: BUSY.app }]));
  await oldestMediaJob(read);
  // To the end: the requests come after the tokens and the collections.
  await inSnapshot(read, async (db) => {
    for await (const _text of textsThatNameContent(db));
  });
}
