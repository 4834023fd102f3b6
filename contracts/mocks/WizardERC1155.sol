// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// @title WizardERC1155
/// @notice A contract as teams deploy it, for tests of adoption: roles instead of an owner, and a URI that an account
/// with one of them can change.
contract WizardERC1155 is ERC1155, AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");

    constructor(address admin) ERC1155("") {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(MINTER_ROLE, admin);
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external onlyRole(MINTER_ROLE) {
        _mintBatch(to, ids, amounts, "");
    }

    /// @notice Mints one copy of so many further ids to each receiver, for tests with thousands of holders.
    function mintEach(address[] calldata receivers, uint256 count, uint256 firstId) external onlyRole(MINTER_ROLE) {
        uint256 id = firstId;
        for (uint256 index = 0; index < receivers.length; ++index) {
            for (uint256 left = count; left > 0; --left) {
                _mint(receivers[index], id, 1, "");
                ++id;
            }
        }
    }

    /// @notice Burns copies of the caller.
    function burn(uint256 id, uint256 amount) external {
        _burn(msg.sender, id, amount);
    }

    function mint(address to, uint256 id, uint256 amount, bytes calldata data) external onlyRole(MINTER_ROLE) {
        _mint(to, id, amount, data);
    }

    function setURI(string calldata uri) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setURI(uri);
    }

    function supportsInterface(bytes4 id) public view override(ERC1155, AccessControl) returns (bool) {
        return super.supportsInterface(id);
    }
}
