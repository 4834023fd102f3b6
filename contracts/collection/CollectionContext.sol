// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

import {ICollection} from "../interfaces/ICollection.sol";
import {CloneArguments} from "../libraries/CloneArguments.sol";

/// @title CollectionContext
/// @notice Reads the values that never change. The relay is in the code of the implementation, which all clones
/// share; everything else is in the immutable arguments of each clone.
abstract contract CollectionContext is ICollection {
    using CloneArguments for CloneArguments.Head;

    /// @inheritdoc ICollection
    address public immutable relay;

    constructor(address relay_) {
        relay = relay_;
    }

    /// @inheritdoc ICollection
    function isSoulbound() external view returns (bool) {
        return CloneArguments.isSoulbound();
    }

    /// @inheritdoc ICollection
    function hosted() external view returns (bool) {
        return _head().hosted;
    }

    /// @dev Returns the decoded arguments of the clone, without the strings.
    function _head() internal view returns (CloneArguments.Head memory) {
        return CloneArguments.decode(_packedArguments());
    }

    /// @dev Returns the packed arguments, which stand at the end of the clone's code.
    function _packedArguments() internal view returns (bytes memory) {
        return Clones.fetchCloneArgs(address(this));
    }

    function _nameArgument() internal view returns (string memory) {
        bytes memory packed = _packedArguments();
        return CloneArguments.decode(packed).name(packed);
    }

    function _symbolArgument() internal view returns (string memory) {
        bytes memory packed = _packedArguments();
        return CloneArguments.decode(packed).symbol(packed);
    }

    /// @dev Reverts if the collection is soulbound.
    function _checkTransferable() internal view {
        if (CloneArguments.isSoulbound()) revert CollectionSoulbound();
    }

    /// @dev Reverts unless the caller is the relay.
    function _checkRelay() internal view {
        if (msg.sender != relay) revert CollectionUnauthorizedRelay(msg.sender);
    }
}
