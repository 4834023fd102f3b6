import { correctedSince, lostEffects } from "../../../../api/store/doctor/effects.ts";
import {
  executedRequests,
  failedUnsent,
  stillUnsigned,
  unsignedRequests,
} from "../../../../api/store/doctor/numbers.ts";
import {
  newestVerifications,
  openBatchesOf,
  parkedRows,
  unsentRequests,
  waitingDeliveries,
} from "../../../../api/store/doctor/pipeline.ts";
import { sealedSample, walletSample } from "../../../../api/store/doctor/sealed.ts";
import { firstPages, NOW, type Tour } from "./tour.ts";

export async function runDoctor({ read }: Tour): Promise<void> {
  await correctedSince(read, 1);
  await firstPages(lostEffects(read), 1);
  for (const pages of [executedRequests(read), failedUnsent(read), unsignedRequests(read)]) await firstPages(pages, 2);
  await stillUnsigned(read, []);
  await stillUnsigned(read, ["request-1", "request-2"]);
  await unsentRequests(read);
  await openBatchesOf(read, 9);
  await parkedRows(read, 10);
  await newestVerifications(read, 10);
  await waitingDeliveries(read, NOW);
  await sealedSample(read, 10);
  await walletSample(read, 10);
}
