// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CollectionAuthorizations} from "./CollectionAuthorizations.sol";
import {CollectionContext} from "./CollectionContext.sol";
import {CollectionMetadata} from "./CollectionMetadata.sol";
import {CollectionMinters} from "./CollectionMinters.sol";
import {CollectionRoyalty} from "./CollectionRoyalty.sol";

/// @title Collection
/// @notice The features that ERC721 and ERC1155 collections share, one in each parent contract.
abstract contract Collection is CollectionAuthorizations, CollectionMetadata, CollectionRoyalty, CollectionMinters {
    bytes4 private constant _ERC7572 = 0xe8a3d485;

    /// @param relay_ The relay. Its address stands for the service.
    constructor(address relay_) CollectionContext(relay_) {}

    /// @dev Tells whether the interface is one that all collections support, apart from ERC-165 and the token
    /// standards.
    function _isCollectionInterface(bytes4 interfaceId) internal pure returns (bool) {
        return interfaceId == _ERC7572 || _isRoyaltyInterface(interfaceId);
    }
}
