import { getAddress, isAddress, type Provider } from "ethers";

import { type Environment, parseSettings, type Settings } from "../../config/settings.ts";
import { type CollectionStorage, STORAGES } from "../../domain/command.ts";
import { createKeyring } from "../../keys/keyring.ts";
import { readSeedFile } from "../../keys/seed-file.ts";
import { OperatorError } from "../operator-error.ts";

/** What a deployment shall put on the chain. */
export interface Plan {
  chainId: bigint;
  /** The owner of the relay, who administers operators, pausing and the hosted base URI. */
  owner: string;
  /** Addresses of the service's lanes, which send batches. */
  operators: string[];
  /** The base URI of hosted collections. */
  hostedBase: string;
  /** Of the ERC721 collections that are created from now on. Null: as it was chosen before. */
  storage: CollectionStorage | null;
  dryRun: boolean;
  /** Folder of the deployment files. */
  folder: string;
}

/** The options of both `deploy` commands, as they are typed. */
export interface DeployOptions {
  owner?: string | undefined;
  operators?: string | undefined;
  publicUrl?: string | undefined;
  storage?: string | undefined;
}

/** @throws OperatorError that names the wrong option or variable. */
export async function readPlan(
  env: Environment,
  options: DeployOptions & { dryRun: boolean },
  provider: Provider,
  deployer: string,
): Promise<Plan> {
  const { chainId } = await provider.getNetwork();
  const { publicUrl = env["PUBLIC_URL"] } = options;
  if (publicUrl === undefined || publicUrl === "") {
    throw new OperatorError(
      "The public URL of the service is missing: pass --public-url https://… or set PUBLIC_URL. The URIs of hosted metadata start with it.",
    );
  }
  const settings = parseSettings({ ...env, PUBLIC_URL: publicUrl });
  return {
    chainId,
    owner: options.owner === undefined ? deployer : readAddress(options.owner, "--owner"),
    operators:
      options.operators === undefined
        ? await lanesOfSeed(settings)
        : options.operators.split(",").map((text) => readAddress(text.trim(), "--operators")),
    hostedBase: `${settings.publicUrl}/metadata/`,
    storage: readStorage(options.storage),
    dryRun: options.dryRun,
    folder: settings.deploymentsDir,
  };
}

/** @throws OperatorError when the option names another storage than those that there are. */
function readStorage(option: string | undefined): CollectionStorage | null {
  if (option === undefined) return null;
  const found = STORAGES.find((storage) => storage === option);
  if (found !== undefined) return found;
  throw new OperatorError(`--storage: ${option} is not a storage. It is ${STORAGES.join(" or ")}.`);
}

/** The lanes of the service, derived from its seed; none if SEED_PASSPHRASE is not set. */
async function lanesOfSeed(settings: Settings): Promise<string[]> {
  if (settings.seedPassphrase === null) return [];
  const keyring = createKeyring(await readSeedFile(settings.seedFile, settings.seedPassphrase));
  return settings.lanes.map((lane) => keyring.lane(lane).address);
}

/** @param option that has the text, if an option has it. @returns the address with its checksum. @throws OperatorError */
export function readAddress(text: string, option?: string): string {
  const given: unknown = text;
  if (isAddress(given)) return getAddress(text);
  const place = option === undefined ? "" : `${option}: `;
  throw new OperatorError(`${place}${text} is not an address. An address is 0x and 40 hexadecimal digits.`);
}
