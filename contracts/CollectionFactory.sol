// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

import {ERC1155Collection} from "./ERC1155Collection.sol";
import {ERC721Collection} from "./ERC721Collection.sol";
import {ICollectionFactory} from "./interfaces/ICollectionFactory.sol";
import {IRelay} from "./interfaces/IRelay.sol";
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

    /// @inheritdoc ICollectionFactory
    string public hostedBaseURI;

    /// @param relay_ The relay, which must already be deployed.
    /// @param hostedBaseURI_ The base of all hosted URIs, ending in a slash.
    constructor(address relay_, string memory hostedBaseURI_) {
        if (relay_.code.length == 0) revert FactoryInvalidRelay(relay_);
        relay = relay_;
        erc721Implementation = address(new ERC721Collection(relay_));
        erc1155Implementation = address(new ERC1155Collection(relay_));
        hostedBaseURI = hostedBaseURI_;
        emit HostedBaseURIUpdated(hostedBaseURI_);
    }

    /// @inheritdoc ICollectionFactory
    function createERC721(bytes calldata args) external returns (address collection) {
        return _create(erc721Implementation, args);
    }

    /// @inheritdoc ICollectionFactory
    function createERC1155(bytes calldata args) external returns (address collection) {
        return _create(erc1155Implementation, args);
    }

    /// @inheritdoc ICollectionFactory
    function setHostedBaseURI(string calldata newHostedBaseURI) external {
        if (msg.sender != IRelay(relay).owner()) revert OwnableUnauthorizedAccount(msg.sender);
        hostedBaseURI = newHostedBaseURI;
        emit HostedBaseURIUpdated(newHostedBaseURI);
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
    function _create(address implementation, bytes calldata args) private returns (address collection) {
        if (msg.sender != relay) revert FactoryUnauthorizedRelay(msg.sender);
        CloneArguments.decode(args);
        uint256 number = RequestNumber.fromCalldata();
        collection = Clones.cloneDeterministicWithImmutableArgs(implementation, args, bytes32(number));
        emit CollectionCreated(number, collection);
    }
}
