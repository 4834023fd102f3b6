import { importedKeysOf } from "../../../../api/store/db/meta.ts";
import { firstParked } from "../../../../api/store/db/parked-rows.ts";
import { correctedSince, lostEffects } from "../../../../api/store/doctor/effects.ts";
import { requestNumbers, stillUnsigned } from "../../../../api/store/doctor/numbers.ts";
import { sealedSample, walletSample } from "../../../../api/store/doctor/sealed.ts";
import { countDeliveries, databaseBytes, oldestUnsent, readPipeline } from "../../../../api/store/doctor/pipeline.ts";
import { recentBatchGas, spentSince } from "../../../../api/store/sending/spent.ts";
import { firstPages, NOW, type Tour } from "./tour.ts";

/** What `doctor` and the metrics read. */
export async function runDoctor({ read }: Tour): Promise<void> {
  await correctedSince(read, 1);
  await firstPages(lostEffects(read), 1);
  await firstPages(requestNumbers(read), 2);
  await stillUnsigned(read, []);
  await stillUnsigned(read, ["request-1", "request-2"]);
  await firstParked(read, 10);
  await sealedSample(read, 10);
  await walletSample(read, 10);
  await importedKeysOf(read);
  await readPipeline(read, NOW);
  await oldestUnsent(read);
  await countDeliveries(read);
  await databaseBytes(read);
  await spentSince(read, 0, NOW);
  await recentBatchGas(read);
}
