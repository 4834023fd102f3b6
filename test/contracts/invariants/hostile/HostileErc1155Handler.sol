// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155Collection} from "../../../../contracts/ERC1155Collection.sol";
import {ICollection} from "../../../../contracts/interfaces/ICollection.sol";
import {HostileHandler} from "./HostileHandler.sol";

/// @title HostileErc1155Handler
/// @notice See {HostileHandler}.
contract HostileErc1155Handler is HostileHandler {
    uint256 private constant _IDS = 3;

    ERC1155Collection public immutable COLLECTION;

    constructor(bool soulbound) {
        bytes memory args = abi.encodePacked(uint8(soulbound ? 17 : 1), uint16(1), uint16(1), "NS");
        COLLECTION = ERC1155Collection(_create(FACTORY.createERC1155.selector, args));
    }

    /// @inheritdoc HostileHandler
    function _collectionCall(uint256 seed) internal view override returns (bytes memory) {
        uint256 id = seed % _IDS;
        address holder = _holderOfId(seed);
        address to = _accountOf(seed >> 32);
        uint256 amount = _part(seed, id, holder);
        string memory uri = seed & 1 == 0 ? "ipfs://a/" : "ipfs://b/";
        // Rare kinds, which end something, come last.
        uint256 kind = (seed >> 64) % 64;
        if (kind < 16) {
            return
                abi.encodeWithSignature(
                    "safeTransferFrom(address,address,uint256,uint256,bytes)",
                    holder,
                    to,
                    id,
                    amount,
                    ""
                );
        }
        if (kind < 24) return _batchTransfer(holder, to, amount);
        if (kind < 32) return abi.encodeWithSignature("setApprovalForAll(address,bool)", to, seed & 2 == 0);
        if (kind < 34) return abi.encodeWithSignature("setApprovalForAll(address,bool)", address(RELAY), true);
        if (kind < 38) return abi.encodeCall(ERC1155Collection.burn, (holder, id, amount));
        if (kind < 40) return _batchBurn(holder, amount);
        if (kind < 46) return _mintCall(seed);
        if (kind < 47) {
            return
                abi.encodeCall(
                    ERC1155Collection.burnWithAuthorization,
                    (holder, id, amount, bytes32(seed), bytes32(seed))
                );
        }
        if (kind < 48) {
            return
                abi.encodeCall(
                    ERC1155Collection.transferWithAuthorization,
                    (holder, to, id, amount, bytes32(seed), bytes32(seed))
                );
        }
        if (kind < 53) return abi.encodeCall(ICollection.setMinter, (to, seed & 6 != 0));
        if (kind < 54) return abi.encodeCall(ICollection.setMinter, (address(RELAY), seed & 6 != 0));
        if (kind < 57) return abi.encodeCall(ICollection.setBaseURI, (uri));
        if (kind < 59) return abi.encodeCall(ERC1155Collection.setTokenURI, (id, uri));
        if (kind < 60) return abi.encodeCall(ICollection.setContractURI, (uri));
        if (kind < 61) return abi.encodeCall(ICollection.freezeMetadata, ());
        if (kind < 62) return abi.encodeCall(ICollection.freezeMetadataAt, (uri, uri));
        if (kind < 63) return abi.encodeCall(ICollection.transferOwnership, (to));
        return abi.encodeCall(ICollection.acceptOwnership, ());
    }

    /// @inheritdoc HostileHandler
    function _mintCall(uint256 seed) internal view override returns (bytes memory) {
        uint256 id = seed % _IDS;
        address to = _accountOf(seed >> 32);
        // Small amounts in most cases, sometimes the largest.
        uint256 amount = (seed >> 96) % 16 == 0 ? type(uint128).max : (seed >> 96) % 100;
        return
            COLLECTION.exists(id)
                ? abi.encodeCall(ERC1155Collection.mint, (to, id, amount))
                : abi.encodeCall(ERC1155Collection.create, (to, id, amount, ""));
    }

    /// @inheritdoc HostileHandler
    function _signed(uint256 signer, uint256 seed) internal override returns (bytes memory data, uint256 number) {
        uint256 id = seed % _IDS;
        address to = _accountOf(seed >> 32);
        address from = _walletOf(signer);
        uint256 amount = _part(seed, id, from);
        if (from == to || amount == 0) return ("", 0);
        number = _nextNumber();
        if ((seed >> 64) % 3 == 0) {
            (bytes32 r_, bytes32 vs_) = _signBurn(_keyOf(signer), address(COLLECTION), id, amount, number);
            _watch.sign(from, address(0), id, amount);
            return (abi.encodeCall(ERC1155Collection.burnWithAuthorization, (from, id, amount, r_, vs_)), number);
        }
        (bytes32 r, bytes32 vs) = _signTransfer(_keyOf(signer), address(COLLECTION), to, id, amount, number);
        _watch.sign(from, to, id, amount);
        data = abi.encodeCall(ERC1155Collection.transferWithAuthorization, (from, to, id, amount, r, vs));
    }

    /// @inheritdoc HostileHandler
    function _holderOf(uint256 seed) internal view override returns (address) {
        return _holderOfId(seed >> 8);
    }

    /// @inheritdoc HostileHandler
    function _collection() internal view override returns (address) {
        return address(COLLECTION);
    }

    function _holderOfId(uint256 seed) private view returns (address) {
        return _accountOf(seed >> 16);
    }

    function _batchTransfer(address holder, address to, uint256 amount) private pure returns (bytes memory) {
        (uint256[] memory ids, uint256[] memory amounts) = _thrice(amount);
        return
            abi.encodeWithSignature(
                "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)",
                holder,
                to,
                ids,
                amounts,
                ""
            );
    }

    function _batchBurn(address holder, uint256 amount) private pure returns (bytes memory) {
        (uint256[] memory ids, uint256[] memory amounts) = _thrice(amount);
        return abi.encodeCall(ERC1155Collection.burnBatch, (holder, ids, amounts));
    }

    /// @dev The same id twice.
    function _thrice(uint256 amount) private pure returns (uint256[] memory ids, uint256[] memory amounts) {
        ids = new uint256[](3);
        amounts = new uint256[](3);
        (ids[0], ids[1], ids[2]) = (0, 1, 0);
        (amounts[0], amounts[1], amounts[2]) = (amount % 5, amount % 7, amount % 3);
    }

    /// @dev Returns at most the balance in most cases, sometimes more.
    function _part(uint256 seed, uint256 id, address holder) private view returns (uint256) {
        uint256 balance = COLLECTION.balanceOf(holder, id);
        return (seed >> 128) % (balance + 1 + balance / 4);
    }
}
