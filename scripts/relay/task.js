import { environment } from "../../api/config/environment.ts";
import { parseSettings } from "../../api/config/settings.ts";
import { administerRelay, findRelay, readAction, relayLines } from "../../api/operate/deploy/relay.ts";
import { runTask } from "../deploy/access.ts";
/**
 * `npm run relay -- <action> --network <name>`: what the relay's owner does in an incident, with an account of Hardhat's keystore.
 * If no account here is the owner, it prints the transactions that the owner must send, for a multisig.
 */
export default async function relayTask(args, hre) {
    await runTask(() => run(args, hre));
}
async function run(args, hre) {
    const calls = readAction(args.action, args.values);
    const connection = await hre.network.create();
    const { provider, getSigners } = connection.ethers;
    const { deploymentsDir } = parseSettings({ PUBLIC_URL: "http://localhost", ...environment() });
    const place = await findRelay(args.relay ?? "", deploymentsDir, provider);
    const signerOf = async (owner) => {
        for (const account of await getSigners())
            if ((await account.getAddress()) === owner)
                return account;
        return null;
    };
    const result = await administerRelay(calls, place, { provider, signerOf }, (line) => {
        console.log(line);
    });
    for (const line of relayLines(result))
        console.log(line);
    // Whoever runs this in a script must know that nothing has changed.
    if (result.toDo.length > 0)
        process.exitCode = 1;
    await connection.close();
}
