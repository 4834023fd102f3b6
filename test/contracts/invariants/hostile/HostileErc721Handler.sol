// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721Collection} from "../../../../contracts/ERC721Collection.sol";
import {ICollection} from "../../../../contracts/interfaces/ICollection.sol";
import {Erc721Watch} from "./Erc721Watch.sol";
import {HostileHandler} from "./HostileHandler.sol";

/// @title HostileErc721Handler
/// @notice See {HostileHandler}.
contract HostileErc721Handler is HostileHandler {
    uint64 private constant _CAP = 12;

    ERC721Collection public immutable COLLECTION;

    constructor(bool soulbound) {
        // Hosted, with a maximum supply; perhaps soulbound.
        bytes memory args = abi.encodePacked(uint8(soulbound ? 25 : 9), _CAP, uint16(1), uint16(1), "NS");
        COLLECTION = ERC721Collection(_create(FACTORY.createERC721.selector, args));
        // One token always exists, so that its URI can be compared.
        _run(address(COLLECTION), abi.encodeCall(ERC721Collection.mint, (address(0xbeef))));
    }

    /// @inheritdoc HostileHandler
    function _collectionCall(uint256 seed) internal view override returns (bytes memory) {
        uint256 id = _tokenOf(seed);
        address holder = Erc721Watch(address(_watch)).holderOf(id);
        address to = _accountOf(seed >> 32);
        string memory uri = seed & 1 == 0 ? "ipfs://a/" : "ipfs://b/";
        // Rare kinds, which end something, come last.
        uint256 kind = (seed >> 64) % 64;
        if (kind < 12) return abi.encodeWithSignature("transferFrom(address,address,uint256)", holder, to, id);
        if (kind < 24) return abi.encodeWithSignature("safeTransferFrom(address,address,uint256)", holder, to, id);
        if (kind < 30) return abi.encodeWithSignature("approve(address,uint256)", to, id);
        if (kind < 35) return abi.encodeWithSignature("setApprovalForAll(address,bool)", to, seed & 2 == 0);
        if (kind < 37) return abi.encodeWithSignature("setApprovalForAll(address,bool)", address(RELAY), true);
        if (kind < 39) return abi.encodeWithSignature("approve(address,uint256)", address(RELAY), id);
        if (kind < 42) return abi.encodeCall(ERC721Collection.burn, (id));
        if (kind < 46) return _mintCall(seed);
        if (kind < 47) {
            return abi.encodeCall(ERC721Collection.burnWithAuthorization, (holder, id, bytes32(seed), bytes32(seed)));
        }
        if (kind < 48) {
            return
                abi.encodeCall(
                    ERC721Collection.transferWithAuthorization,
                    (holder, to, id, bytes32(seed), bytes32(seed))
                );
        }
        if (kind < 52) return abi.encodeCall(ICollection.setMinter, (to, seed & 6 != 0));
        if (kind < 53) return abi.encodeCall(ICollection.setMinter, (address(RELAY), seed & 6 != 0));
        if (kind < 55) return abi.encodeCall(ERC721Collection.lowerMaxSupply, (_CAP - ((seed >> 96) % 6)));
        if (kind < 57) return abi.encodeCall(ICollection.setBaseURI, (uri));
        if (kind < 58) return abi.encodeCall(ICollection.setContractURI, (uri));
        if (kind < 59) return abi.encodeCall(ICollection.setRoyalty, (to, seed % 10_001));
        if (kind < 60) return abi.encodeCall(ICollection.freezeRoyalty, ());
        if (kind < 61) return abi.encodeCall(ICollection.freezeMetadata, ());
        if (kind < 62) return abi.encodeCall(ICollection.freezeMetadataAt, (uri, uri));
        if (kind < 63) return abi.encodeCall(ICollection.transferOwnership, (to));
        return abi.encodeCall(ICollection.acceptOwnership, ());
    }

    /// @inheritdoc HostileHandler
    function _mintCall(uint256 seed) internal view override returns (bytes memory) {
        address to = _accountOf(seed >> 32);
        return
            seed & 3 == 0
                ? abi.encodeCall(ERC721Collection.mintToWallet, (to))
                : abi.encodeCall(ERC721Collection.mint, (to));
    }

    /// @inheritdoc HostileHandler
    function _signed(uint256 signer, uint256 seed) internal override returns (bytes memory data, uint256 number) {
        uint256 id = _tokenOf(seed);
        address to = _accountOf(seed >> 32);
        address from = _walletOf(signer);
        if (from == to) return ("", 0);
        number = _nextNumber();
        if ((seed >> 64) % 3 == 0) {
            (bytes32 r_, bytes32 vs_) = _signBurn(_keyOf(signer), address(COLLECTION), id, 1, number);
            _watch.sign(from, address(0), id, 1);
            return (abi.encodeCall(ERC721Collection.burnWithAuthorization, (from, id, r_, vs_)), number);
        }
        (bytes32 r, bytes32 vs) = _signTransfer(_keyOf(signer), address(COLLECTION), to, id, 1, number);
        _watch.sign(from, to, id, 1);
        data = abi.encodeCall(ERC721Collection.transferWithAuthorization, (from, to, id, r, vs));
    }

    /// @inheritdoc HostileHandler
    function _holderOf(uint256 seed) internal view override returns (address) {
        return Erc721Watch(address(_watch)).holderOf(_tokenOf(seed >> 8));
    }

    /// @inheritdoc HostileHandler
    function _collection() internal view override returns (address) {
        return address(COLLECTION);
    }

    /// @dev Returns an id, sometimes one that does not exist. Token 1 stays where it is.
    function _tokenOf(uint256 seed) private view returns (uint256) {
        return 2 + (seed % (COLLECTION.totalMinted() + 1));
    }
}
