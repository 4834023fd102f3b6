import { join } from "node:path";

export interface Settings {
  /** URL of Moneta, without `/v1`. */
  monetaUrl: string;
  /** A token of the app that this shop is. It stays on this server: whoever has it can mint. */
  token: string;
  host: string;
  port: number;
  /** The address that visitors type, without a slash at the end. */
  shopUrl: string;
  /** Where Moneta delivers webhooks. */
  webhookUrl: string;
  dataFolder: string;
}

/** A mistake that the person who starts the shop can correct. Only its message is printed. */
export class SettingsProblem extends Error {
  override readonly name = "SettingsProblem";
}

/** @throws SettingsProblem */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const token = env["MONETA_TOKEN"]?.trim() ?? "";
  if (token === "") {
    throw new SettingsProblem(
      "MONETA_TOKEN is missing. Run `npm start` in another terminal, and copy the token that it prints: MONETA_TOKEN=moneta_... npm run example",
    );
  }
  const port = Number(env["SHOP_PORT"] ?? "4000");
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new SettingsProblem("SHOP_PORT must be a port number from 1 to 65535.");
  }
  const shopUrl = env["SHOP_URL"];
  return {
    monetaUrl: originOf("MONETA_URL", env["MONETA_URL"] ?? "http://localhost:3000"),
    token,
    // Only this machine can open the shop, until SHOP_HOST says otherwise.
    host: env["SHOP_HOST"] ?? "127.0.0.1",
    port,
    shopUrl: originOf("SHOP_URL", shopUrl ?? `http://localhost:${port}`),
    // Moneta accepts an address of the same machine only while it works on a local chain.
    webhookUrl: `${shopUrl === undefined ? `http://127.0.0.1:${port}` : originOf("SHOP_URL", shopUrl)}/webhook`,
    dataFolder: env["SHOP_DATA"] ?? join("data", "shop"),
  };
}

function originOf(variable: string, text: string): string {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.pathname !== "/") {
    throw new SettingsProblem(`${variable} must be an address without a path, such as https://shop.example.`);
  }
  return url.origin;
}
