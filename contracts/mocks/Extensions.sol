// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";

/// @title Extensions
/// @notice Rights of Manifold's creator contracts, for tests of mints into adopted contracts: an owner, further admins,
/// and contracts that may mint.
abstract contract Extensions is Ownable {
    using EnumerableSet for EnumerableSet.AddressSet;

    EnumerableSet.AddressSet private _extensions;
    mapping(address account => bool) private _admins;

    error NotAdmin(address caller);
    error NotExtension(address caller);
    error NotContract(address extension);

    modifier onlyExtension() {
        if (!_extensions.contains(msg.sender)) revert NotExtension(msg.sender);
        _;
    }

    function approveAdmin(address account) external onlyOwner {
        _admins[account] = true;
    }

    function revokeAdmin(address account) external onlyOwner {
        _admins[account] = false;
    }

    function registerExtension(address extension, string calldata) external {
        if (!isAdmin(msg.sender)) revert NotAdmin(msg.sender);
        if (extension.code.length == 0) revert NotContract(extension);
        _extensions.add(extension);
    }

    function getExtensions() external view returns (address[] memory) {
        return _extensions.values();
    }

    function isAdmin(address account) public view returns (bool) {
        return account == owner() || _admins[account];
    }
}
