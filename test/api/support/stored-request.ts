import { toCommand } from "../../../api/store/requests/requests.ts";
import type { TestApi } from "./api.ts";

/** The row of a request, with its command read. */
export async function storedRequest({ database }: Pick<TestApi, "database">, id: string) {
  const row = await database.read.selectFrom("requests").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  return { ...row, command: toCommand(row.command) };
}
