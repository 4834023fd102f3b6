import { expect } from "chai";
import { type ContractTransactionResponse, MaxUint256 } from "ethers";

import type { ICollection } from "../../../types/ethers-contracts/index.js";
import { ethers, HOSTED_BASE_URI, item, networkHelpers, run } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { KINDS } from "../support/kinds.ts";
import { CHAIN_ID } from "../support/sign.ts";

for (const { kind, deploy } of KINDS) {
  describe(`${kind}: metadata`, () => {
    const setUp = () => networkHelpers.loadFixture(deploy);
    const tokenUri = async (collection: ICollection) =>
      kind === "ERC1155Collection"
        ? (await ethers.getContractAt(kind, await collection.getAddress())).uri(1n)
        : (await ethers.getContractAt("ERC721Collection", await collection.getAddress())).tokenURI(1n);

    const isErc721 = kind !== "ERC1155Collection";
    /** The events of the token standard. */
    const events = (collection: ICollection) =>
      new ethers.BaseContract(
        collection.target,
        [
          "event MetadataUpdate(uint256 _tokenId)",
          "event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId)",
          "event URI(string value, uint256 indexed id)",
        ],
        ethers.provider,
      );
    /** The ids of all events `URI` of a transaction. Fails if an event of the collection is another one. */
    const announced = async (collection: ICollection, sent: Promise<ContractTransactionResponse>) => {
      const logs = (await (await sent).wait())!.logs.filter((log) => log.address === collection.target);
      const found = logs.map((log) => events(collection).interface.parseLog(log));
      expect(found.every((event) => event?.name === "URI")).to.equal(true);
      for (const event of found) expect(event?.args["value"]).to.equal(await tokenUri(collection));
      return found.map((event) => event?.args["id"] as bigint);
    };

    describe("contractURI", () => {
      it("starts with the relay's hosted base if hosted", async () => {
        const { hosted, relay, admin } = await setUp();
        const suffix = `${CHAIN_ID}/${await hosted.getAddress()}`;
        expect(await hosted.hosted()).to.equal(true);
        expect(await hosted.contractURI()).to.equal(`${HOSTED_BASE_URI}${suffix}`);
        await relay.connect(admin).setHostedBaseURI("https://moved.example/m/");
        expect(await hosted.contractURI()).to.equal(`https://moved.example/m/${suffix}`);
      });

      it("returns the URI of the creation if self-hosted", async () => {
        const { selfHosted } = await setUp();
        expect(await selfHosted.hosted()).to.equal(false);
        expect(await selfHosted.contractURI()).to.equal("https://app.example/collection.json");
      });
    });

    describe("setContractURI", () => {
      it("replaces the URI, also with an empty one", async () => {
        const { hosted, admin } = await setUp();
        for (const uri of ["ipfs://collection", ""]) {
          await expect(hosted.connect(admin).setContractURI(uri)).to.emit(hosted, "ContractURIUpdated").withArgs();
          expect(await hosted.contractURI()).to.equal(uri);
        }
      });
    });

    describe("setBaseURI", () => {
      it("emits the new base URI and a metadata update of all tokens", async () => {
        const { hosted, admin } = await setUp();
        const tx = hosted.connect(admin).setBaseURI("ipfs://base/");
        await expect(tx).to.emit(hosted, "BaseURIUpdated").withArgs("ipfs://base/");
        if (isErc721) await expect(tx).to.emit(events(hosted), "BatchMetadataUpdate").withArgs(0n, MaxUint256);
        else expect((await (await tx).wait())!.logs.length).to.equal(1);
      });
    });

    describe("the owner's setters", () => {
      it("revert with OwnableUnauthorizedAccount for others, also the service", async () => {
        const { hosted, relay, stranger } = await setUp();
        for (const attempt of [
          () => hosted.connect(stranger).setBaseURI("x"),
          () => hosted.connect(stranger).setContractURI("x"),
        ]) {
          await expect(attempt())
            .to.be.revertedWithCustomError(hosted, "OwnableUnauthorizedAccount")
            .withArgs(stranger.address);
        }
        for (const fragment of ["setBaseURI", "setContractURI"]) {
          const call = await item(hosted, fragment, "x");
          await expectFailure(relay, call, hosted, "OwnableUnauthorizedAccount", relay.target);
        }
      });
    });

    describe("announceMetadataUpdate", () => {
      it("emits one token or a range, for the owner and the service", async () => {
        const { hosted, relay, admin } = await setUp();
        const one = hosted.connect(admin).announceMetadataUpdate(3n, 3n);
        const range = run(relay, await item(hosted, "announceMetadataUpdate", 2n, 9n));
        if (isErc721) {
          await expect(one).to.emit(events(hosted), "MetadataUpdate").withArgs(3n);
          await expect(range).to.emit(events(hosted), "BatchMetadataUpdate").withArgs(2n, 9n);
          return;
        }
        // ERC-1155 has an event for one id each, and ERC-4906 is not for it.
        expect(await announced(hosted, one)).to.deep.equal([3n]);
        expect(await announced(hosted, range)).to.deep.equal([2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]);
        const last = hosted.connect(admin).announceMetadataUpdate(MaxUint256, MaxUint256);
        expect(await announced(hosted, last)).to.deep.equal([MaxUint256]);
      });

      it("reverts with CollectionInvalidRange for an empty range", async () => {
        const { hosted, admin } = await setUp();
        await expect(hosted.connect(admin).announceMetadataUpdate(4n, 3n))
          .to.be.revertedWithCustomError(hosted, "CollectionInvalidRange")
          .withArgs(4n, 3n);
      });
    });

    describe("announceContractURIUpdate", () => {
      it("emits ContractURIUpdated, for the owner and the service", async () => {
        const { hosted, relay, admin } = await setUp();
        await expect(hosted.connect(admin).announceContractURIUpdate())
          .to.emit(hosted, "ContractURIUpdated")
          .withArgs();
        await expect(run(relay, await item(hosted, "announceContractURIUpdate")))
          .to.emit(hosted, "ContractURIUpdated")
          .withArgs();
      });
    });

    describe("given a collection with its own owner, from creation or later", () => {
      it("fails the service's announcements and freezes with CollectionUnauthorizedSteward", async () => {
        const { hosted, owned, relay, admin, alice } = await setUp();
        await hosted.connect(admin).transferOwnership(alice.address);
        await hosted.connect(alice).acceptOwnership();
        for (const collection of [hosted, owned]) {
          for (const [fragment, ...args] of [
            ["announceMetadataUpdate", 1n, 1n],
            ["announceContractURIUpdate"],
            ["freezeMetadata"],
            ["freezeMetadataAt", "ipfs://x/", "ipfs://x/collection.json"],
          ] as const) {
            const call = await item(collection, fragment, ...args);
            await expectFailure(relay, call, collection, "CollectionUnauthorizedSteward", relay.target);
          }
        }
        await expect(hosted.connect(alice).announceMetadataUpdate(1n, 1n)).to.emit(
          events(hosted),
          isErc721 ? "MetadataUpdate" : "URI",
        );
      });
    });

    describe("given a stranger", () => {
      it("reverts announcements and freezes with CollectionUnauthorizedSteward", async () => {
        const { hosted, stranger } = await setUp();
        for (const attempt of [
          () => hosted.connect(stranger).announceMetadataUpdate(1n, 1n),
          () => hosted.connect(stranger).announceContractURIUpdate(),
          () => hosted.connect(stranger).freezeMetadata(),
          () => hosted.connect(stranger).freezeMetadataAt("ipfs://x/", "ipfs://x/collection.json"),
        ]) {
          await expect(attempt())
            .to.be.revertedWithCustomError(hosted, "CollectionUnauthorizedSteward")
            .withArgs(stranger.address);
        }
      });
    });

    describe("freezeMetadata", () => {
      it("keeps the current hosted URIs of a hosted collection", async () => {
        const { hosted, relay, admin } = await setUp();
        const before = await hosted.contractURI();
        await expect(run(relay, await item(hosted, "freezeMetadata")))
          .to.emit(hosted, "MetadataFrozen")
          .withArgs();
        expect(await hosted.metadataFrozen()).to.equal(true);
        await relay.connect(admin).setHostedBaseURI("https://moved.example/");
        expect(await hosted.contractURI()).to.equal(before);
      });

      it("keeps the URIs that the owner set, and those of a self-hosted collection", async () => {
        const { hosted, selfHosted, admin } = await setUp();
        await hosted.connect(admin).setContractURI("ipfs://mine");
        await hosted.connect(admin).freezeMetadata();
        await selfHosted.connect(admin).freezeMetadata();
        expect(await hosted.contractURI()).to.equal("ipfs://mine");
        expect(await selfHosted.contractURI()).to.equal("https://app.example/collection.json");
      });

      it("reverts every later change with CollectionMetadataFrozen, also another freeze", async () => {
        const { hosted, admin } = await setUp();
        const frozen = hosted.connect(admin);
        await frozen.freezeMetadata();
        for (const attempt of [
          () => frozen.setBaseURI("x"),
          () => frozen.setContractURI("x"),
          () => frozen.announceMetadataUpdate(1n, 1n),
          () => frozen.announceContractURIUpdate(),
          () => frozen.freezeMetadata(),
          () => frozen.freezeMetadataAt("x", "x"),
        ]) {
          await expect(attempt()).to.be.revertedWithCustomError(hosted, "CollectionMetadataFrozen").withArgs();
        }
      });
    });

    describe("freezeMetadataAt", () => {
      const base = kind === "ERC1155Collection" ? "ipfs://cid/{id}" : "ipfs://cid/";

      it("freezes a hosted collection's URIs at fixed content, for the service", async () => {
        const { hosted, relay, admin, mint, alice } = await setUp();
        await run(relay, await mint(hosted, alice.address));
        const frozen = run(relay, await item(hosted, "freezeMetadataAt", base, "ipfs://cid/collection.json"));
        await expect(frozen).to.emit(hosted, "BaseURIUpdated").withArgs(base);
        if (isErc721) await expect(frozen).to.emit(events(hosted), "BatchMetadataUpdate").withArgs(0n, MaxUint256);
        await expect(frozen).to.emit(hosted, "ContractURIUpdated").withArgs();
        await expect(frozen).to.emit(hosted, "MetadataFrozen").withArgs();
        expect(await hosted.metadataFrozen()).to.equal(true);
        await relay.connect(admin).setHostedBaseURI("https://moved.example/");
        expect(await hosted.contractURI()).to.equal("ipfs://cid/collection.json");
        expect(await tokenUri(hosted)).to.equal(kind === "ERC1155Collection" ? base : "ipfs://cid/1");
        await expect(hosted.connect(admin).setBaseURI("x"))
          .to.be.revertedWithCustomError(hosted, "CollectionMetadataFrozen")
          .withArgs();
      });

      it("fails with CollectionNotHosted if the owner set a URI or the collection is self-hosted", async () => {
        const { selfHosted, admin } = await setUp();
        for (const set of ["setBaseURI", "setContractURI"] as const) {
          const { hosted } = await setUp();
          await hosted.connect(admin)[set]("ipfs://mine");
          await expect(hosted.connect(admin).freezeMetadataAt("x", "x"))
            .to.be.revertedWithCustomError(hosted, "CollectionNotHosted")
            .withArgs();
        }
        await expect(selfHosted.connect(admin).freezeMetadataAt("x", "x"))
          .to.be.revertedWithCustomError(selfHosted, "CollectionNotHosted")
          .withArgs();
      });
    });
  });
}
