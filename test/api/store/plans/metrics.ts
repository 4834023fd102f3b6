import { countDeliveries, databaseBytes, oldestUnsent, readPipeline } from "../../../../api/store/metrics/pipeline.ts";
import { spentSince } from "../../../../api/store/sending/spent.ts";
import { NOW, type Tour } from "./tour.ts";

export async function runMetrics({ read }: Tour): Promise<void> {
  await readPipeline(read, NOW);
  await oldestUnsent(read);
  await countDeliveries(read);
  await databaseBytes(read);
  await spentSince(read, 0, NOW);
}
