import { join } from "node:path";

import { differentCounts } from "../../store/move/tables.ts";
import { abandonPostgres, finishPostgres, preparePostgres } from "../../store/move/restore-place.ts";
import { OperatorError } from "../operator-error.ts";
import { afterRestore, bringUpToDate } from "./after-restore.ts";
import { DATABASE_FILES } from "./manifest.ts";
import { loadPostgres, type PostgresPrograms, requireVersion } from "./postgres-programs.ts";
import { type Backup, requirePart } from "./read-backup.ts";

/**
 * Restores a PostgreSQL database: everything is loaded in one transaction. Until the end the database has a mark, with which
 * no service starts.
 * @param others restores the other parts, before the service can start.
 */
export async function restorePostgres<T>(
  url: string,
  { folder, manifest }: Backup,
  { programs, report }: { programs: PostgresPrograms; report: (step: string) => void },
  others: () => Promise<T>,
): Promise<T> {
  const part = DATABASE_FILES.postgres;
  report("Checking the backup");
  await requirePart(folder, part, manifest.database);
  await requireVersion(programs, "pg_restore", manifest.server ?? "");
  const state = await preparePostgres(url, manifest.database.sha256);
  let result: T;
  try {
    result = await others();
    if (state === "empty") {
      report("Restoring the database");
      await loadPostgres(programs, url, join(folder, part));
    }
  } catch (error) {
    if (state === "empty") await abandonPostgres(url);
    throw error;
  }
  const check = (rows: Record<string, number>) => {
    const different = differentCounts(manifest.database.rows, rows);
    if (different === null) return;
    throw new OperatorError(
      `The restored database has other rows than the backup: ${different}. Drop it, create an empty one, and run this again.`,
    );
  };
  await finishPostgres(url, check, afterRestore);
  await bringUpToDate(url);
  return result;
}
