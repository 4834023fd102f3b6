// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {ERC165Checker} from "@openzeppelin/contracts/utils/introspection/ERC165Checker.sol";

import {ICollection} from "./interfaces/ICollection.sol";
import {ICollectionFactory} from "./interfaces/ICollectionFactory.sol";
import {CloneArguments} from "./libraries/CloneArguments.sol";
import {RequestNumber} from "./libraries/RequestNumber.sol";

/// @title CollectionFactory
/// @notice See {ICollectionFactory}.
contract CollectionFactory is ICollectionFactory {
    /// @inheritdoc ICollectionFactory
    address public immutable relay;

    /// @inheritdoc ICollectionFactory
    address public immutable erc721Implementation;

    /// @inheritdoc ICollectionFactory
    address public immutable erc1155Implementation;

    /// @dev The implementations are deployed before the factory, each in a transaction of its own. One transaction for
    /// all would exceed the gas limit of some chains.
    /// @param relay_ The relay.
    /// @param erc721Implementation_ The implementation for ERC721 collections of this relay.
    /// @param erc1155Implementation_ The implementation for ERC1155 collections of this relay.
    constructor(address relay_, address erc721Implementation_, address erc1155Implementation_) {
        if (relay_.code.length == 0) revert FactoryInvalidRelay(relay_);
        _checkImplementation(erc721Implementation_, type(IERC721).interfaceId, relay_);
        _checkImplementation(erc1155Implementation_, type(IERC1155).interfaceId, relay_);
        relay = relay_;
        erc721Implementation = erc721Implementation_;
        erc1155Implementation = erc1155Implementation_;
    }

    /// @inheritdoc ICollectionFactory
    function createERC721(bytes calldata args) external returns (address collection) {
        return _create(erc721Implementation, args, CloneArguments.ERC721_FLAGS);
    }

    /// @inheritdoc ICollectionFactory
    function createERC1155(bytes calldata args) external returns (address collection) {
        return _create(erc1155Implementation, args, CloneArguments.ERC1155_FLAGS);
    }

    /// @inheritdoc ICollectionFactory
    function predictERC721(uint256 number, bytes calldata args) external view returns (address) {
        return Clones.predictDeterministicAddressWithImmutableArgs(erc721Implementation, args, bytes32(number));
    }

    /// @inheritdoc ICollectionFactory
    function predictERC1155(uint256 number, bytes calldata args) external view returns (address) {
        return Clones.predictDeterministicAddressWithImmutableArgs(erc1155Implementation, args, bytes32(number));
    }

    /// @dev Deploys a clone with the request number as its salt. Reverts if the arguments are invalid.
    function _create(
        address implementation,
        bytes calldata args,
        uint256 allowedFlags
    ) private returns (address collection) {
        if (msg.sender != relay) revert FactoryUnauthorizedRelay(msg.sender);
        // As owner, the relay would let every operator act for the owner.
        if (CloneArguments.decodeNew(args, allowedFlags).owner == relay) revert OwnableInvalidOwner(relay);
        uint256 number = RequestNumber.fromCalldata();
        collection = Clones.cloneDeterministicWithImmutableArgs(implementation, args, bytes32(number));
        emit CollectionCreated(number, collection);
    }

    /// @dev Reverts unless the implementation has code, is of the right kind and belongs to the same relay.
    function _checkImplementation(address implementation, bytes4 kind, address relay_) private view {
        // An address without code supports no interface.
        if (!ERC165Checker.supportsInterface(implementation, kind) || ICollection(implementation).relay() != relay_) {
            revert FactoryInvalidImplementation(implementation);
        }
    }
}
