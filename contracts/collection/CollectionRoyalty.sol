// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC2981} from "@openzeppelin/contracts/interfaces/IERC2981.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {ICollection} from "../interfaces/ICollection.sol";
import {CloneArguments} from "../libraries/CloneArguments.sol";
import {CollectionOwnership} from "./CollectionOwnership.sol";

/// @title CollectionRoyalty
/// @notice ERC-2981: one royalty for all tokens. It comes from the clone's arguments until the owner replaces it.
abstract contract CollectionRoyalty is CollectionOwnership {
    /// @dev Fits in one slot. `isSet` is true once the owner has replaced the royalty, also if it was removed.
    struct Royalty {
        address recipient;
        uint16 basisPoints;
        bool isSet;
        bool isFrozen;
    }

    uint256 private constant _WHOLE_PRICE = 10_000;

    Royalty private _royalty;

    /// @inheritdoc ICollection
    function setRoyalty(address recipient, uint256 basisPoints) external onlyOwner {
        if (_royalty.isFrozen) revert CollectionRoyaltyFrozen();
        if (basisPoints > _WHOLE_PRICE || (recipient == address(0) && basisPoints != 0)) {
            revert CollectionInvalidRoyalty(recipient, basisPoints);
        }
        // The cast is safe: the value is at most 10,000.
        _royalty = Royalty(recipient, uint16(basisPoints), true, false);
        emit RoyaltyUpdated(recipient, basisPoints);
    }

    /// @inheritdoc ICollection
    function freezeRoyalty() external onlyOwner {
        if (_royalty.isFrozen) revert CollectionRoyaltyFrozen();
        _royalty.isFrozen = true;
        emit RoyaltyFrozen();
    }

    /// @inheritdoc ICollection
    function royaltyFrozen() external view returns (bool) {
        return _royalty.isFrozen;
    }

    /// @inheritdoc ICollection
    function royaltyInfo(uint256, uint256 salePrice) external view returns (address recipient, uint256 amount) {
        uint256 basisPoints;
        if (_royalty.isSet) {
            (recipient, basisPoints) = (_royalty.recipient, _royalty.basisPoints);
        } else {
            CloneArguments.Head memory head = _head();
            (recipient, basisPoints) = (head.royaltyRecipient, head.royaltyBasisPoints);
        }
        amount = Math.mulDiv(salePrice, basisPoints, _WHOLE_PRICE);
    }

    /// @dev Tells whether the interface is ERC-2981.
    function _isRoyaltyInterface(bytes4 interfaceId) internal pure returns (bool) {
        return interfaceId == type(IERC2981).interfaceId;
    }
}
