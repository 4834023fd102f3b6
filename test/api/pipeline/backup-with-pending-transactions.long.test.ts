import { expect } from "chai";

import { StartupError } from "../../../api/context/startup-error.ts";
import { openBatches } from "../../../api/store/sending/batches.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

describe("start-up from an old backup whose later transactions are still pending in the node", () => {
  // The service starts on an old copy of its database.
  const moneta = useService({ start: false });

  it("is refused, because requests could be executed twice", async () => {
    await moneta.start();
    const { api } = moneta;
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await moneta.restart({ ROLES: "api" });
    await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
    await moneta.stop();
    const restore = await moneta.database.backUp();

    await moneta.provider.send("evm_setAutomine", [false]);
    await moneta.start();
    await eventually(
      async () => (await openBatches(moneta.service.database.read))[0]?.attempts[0]?.sentAt ?? undefined,
    );
    await moneta.stop();
    await restore();

    const error: unknown = await moneta.start().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StartupError);
    expect((error as Error).message).to.match(/wait in the node's pool/);
  });
});
