import { getAddress, isAddress, type Provider } from "ethers";

import { environment } from "../../api/config/environment.ts";
import { parseSettings } from "../../api/config/settings.ts";
import { createKeyring } from "../../api/keys/keyring.ts";
import { readSeedFile } from "../../api/keys/seed-file.ts";

/** What shall be on the chain in the end. */
export interface Plan {
  network: string;
  chainId: bigint;
  /** Owner of the relay: administers operators, pause and the hosted base. */
  owner: string;
  /** Lanes of the service. */
  operators: string[];
  /** Base of the URIs of hosted collections. */
  hostedBase: string;
  dryRun: boolean;
  /** Folder of the deployment files. */
  folder: string;
}

/** @throws Error naming the option or variable that is wrong. */
export async function readPlan(
  options: { network: string; owner: string; operators: string; publicUrl: string; dryRun: boolean },
  provider: Provider,
  deployer: string,
): Promise<Plan> {
  const { chainId } = await provider.getNetwork();
  const publicUrl = options.publicUrl === "" ? environment()["PUBLIC_URL"] : options.publicUrl;
  if (publicUrl === undefined || publicUrl === "") {
    throw new Error(
      "Say where the service will be reached: --public-url https://… or PUBLIC_URL. Hosted metadata lives there.",
    );
  }
  const settings = parseSettings({ ...environment(), PUBLIC_URL: publicUrl });
  return {
    network: options.network,
    chainId,
    owner: options.owner === "" ? deployer : address("--owner", options.owner),
    operators:
      options.operators === ""
        ? await lanesOfSeed(settings)
        : options.operators.split(",").map((text) => address("--operators", text.trim())),
    hostedBase: `${settings.publicUrl}/metadata/`,
    dryRun: options.dryRun,
    folder: settings.deploymentsDir,
  };
}

/** The lanes that the service will use, when its seed is at hand; none otherwise. */
async function lanesOfSeed(settings: ReturnType<typeof parseSettings>): Promise<string[]> {
  if (settings.seedPassphrase === null) return [];
  const keyring = createKeyring(await readSeedFile(settings.seedFile, settings.seedPassphrase));
  return Array.from({ length: settings.lanes }, (_, index) => keyring.lane(index).address);
}

function address(option: string, text: string): string {
  const given: unknown = text;
  if (!isAddress(given)) throw new Error(`${option}: ${text} is not an address.`);
  return getAddress(text);
}
