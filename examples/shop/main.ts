import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";

import { ApiRefusal, ConnectionFailed, createClient } from "@moneta/client";

import { LivePages } from "./live.ts";
import { openCollection, registerWebhook } from "./moneta.ts";
import { readSettings, SettingsProblem } from "./settings.ts";
import { createShop } from "./shop.ts";
import { Store } from "./store.ts";
import { newKey } from "./visitors.ts";

/** `npm run example`: opens the shop, until Ctrl-C. */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const client = createClient({ baseUrl: settings.monetaUrl, token: settings.token });
  const collection = await openCollection(client);
  // A file for each collection: `npm start -- --fresh` begins with an empty chain, and earlier claims mean nothing there.
  const store = new Store(join(settings.dataFolder, `${collection}.sqlite`));
  const cookieKey = store.secret("cookies") ?? newKey();
  store.keepSecret("cookies", cookieKey);
  const webhookSecret = await registerWebhook(client, settings.webhookUrl, store);

  const live = new LivePages();
  const { shopUrl } = settings;
  const server = createServer(createShop({ client, store, live, collection, shopUrl, cookieKey, webhookSecret }));
  server.listen(settings.port, settings.host);
  await once(server, "listening");
  console.log(`The shop is open: ${shopUrl}\nIts collection is ${collection}. Press Ctrl-C to close the shop.`);

  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  live.close();
  server.close();
  server.closeAllConnections();
  await once(server, "close");
  store.close();
}

/** What the person who starts the shop can do about the error, or null when only a programmer can tell. */
function advice(error: unknown): string | null {
  if (error instanceof SettingsProblem) return error.message;
  if (error instanceof ConnectionFailed) {
    return `${error.message}. Start Moneta with \`npm start\` in another terminal, or set MONETA_URL.`;
  }
  if (error instanceof ApiRefusal) return `Moneta refused a call: ${error.message} Check MONETA_TOKEN.`;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return "Another program uses the shop's port. Set SHOP_PORT to another one.";
  }
  return null;
}

main().catch((error: unknown) => {
  console.error(advice(error) ?? error);
  process.exit(1);
});
