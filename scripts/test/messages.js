import { z } from "zod";
const count = z.number().int().nonnegative();
const fileSchema = z.strictObject({
    /** Relative to the root of the project. */
    path: z.string(),
    seconds: z.number(),
    passed: count,
    failed: count,
    skipped: count,
    /** Each failed test or hook: its title, and all that Mocha says about it. */
    failures: z.array(z.strictObject({ title: z.string(), text: z.string() })),
});
/** What a process that runs tests sends: a sign of life after each test, and the result of each file. */
export const messageSchema = z.union([
    z.strictObject({ alive: z.literal(true) }),
    z.strictObject({ file: fileSchema }),
    z.strictObject({ idle: z.literal(true) }),
]);
